// Owns: how the x402 benchmark's numbers are computed, judged and printed. Pure.

export const quantile = (sorted, part) =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);

/** One row of the table from what one run of the load told and what was measured around it. */
export function row({ who, act, inFlight, told, cpuMs, counted, rssMb, charged }) {
  const sorted = [...told.latencies].sort((one, other) => one - other);
  const failed = sum(told.failures);
  const done = sorted.length;
  const each = (value) => (done === 0 ? 0 : value / done);
  return {
    who, act, inFlight, done, failed, charged,
    failures: told.failures,
    perSecond: (done * 1000) / told.elapsed,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    cpuMs: each(cpuMs),
    calls: each(counted.calls),
    requests: each(counted.requests),
    methods: counted.methods,
    rssMb,
  };
}

const columns = [
  ["in flight", (one) => String(one.inFlight)],
  ["", (one) => one.act],
  ["facilitator", (one) => one.who],
  ["done", (one) => String(one.done)],
  ["failed", (one) => String(one.failed)],
  ["charged", (one) => String(one.charged ?? "")],
  ["per s", (one) => one.perSecond.toFixed(1)],
  ["p50 ms", (one) => one.p50.toFixed(0)],
  ["p99 ms", (one) => one.p99.toFixed(0)],
  ["CPU ms each", (one) => one.cpuMs.toFixed(3)],
  ["RPC calls each", (one) => one.calls.toFixed(2)],
  ["RPC requests each", (one) => one.requests.toFixed(2)],
  ["RSS MB", (one) => one.rssMb.toFixed(0)],
];
const leftAligned = new Set(["", "facilitator"]);

export function table(rows) {
  const lines = [
    columns.map(([name]) => name),
    ...rows.map((one) => columns.map(([, of]) => of(one))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines
    .map((line) => line
      .map((cell, at) => leftAligned.has(columns[at][0])
        ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))
      .join("  ").trimEnd())
    .join("\n");
}

/** What holdfast must keep beside the reference: { sentence, holds } each. */
export function judge(rows) {
  const of = (who, act) => rows.filter((one) => one.who === who && one.act === act);
  const ours = of("holdfast", "settle");
  const theirs = of("reference", "settle");
  const judged = [];
  const must = (holds, sentence) => judged.push({ holds, sentence });
  const failed = ours.reduce((all, one) => all + one.failed, 0);
  must(failed === 0, `no settle of holdfast's failed: ${failed}`);
  const wrong = ours.filter((one) => one.charged !== one.done).length;
  must(wrong === 0, `every settle told was charged once: ${wrong} levels are otherwise`);
  for (const one of ours) {
    const other = theirs.find(({ inFlight }) => inFlight === one.inFlight);
    if (!other) continue;
    const at = `at ${one.inFlight} in flight`;
    const times = other.cpuMs / one.cpuMs;
    must(times >= 10, `CPU a settle ${at}: 1/${times.toFixed(1)} of the reference's; most 1/10`);
    must(one.calls <= 3, `RPC calls a settle ${at}: ${one.calls.toFixed(2)}; most 3`);
    const memory = other.rssMb / one.rssMb;
    must(memory >= 5, `RSS ${at}: 1/${memory.toFixed(1)} of the reference's; most 1/5`);
    if (one.inFlight === 256) {
      must(one.p99 <= 3000, `p99 ${at}: ${one.p99.toFixed(0)} ms; most 3000`);
    }
  }
  const [verify] = of("holdfast", "verify");
  const [verifyOf] = of("reference", "verify");
  if (verify && verifyOf) {
    const times = verify.perSecond / verifyOf.perSecond;
    must(times >= 20, `/verify: ${times.toFixed(1)} times the reference's; least 20`);
  }
  return judged;
}
