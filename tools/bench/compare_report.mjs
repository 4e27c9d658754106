// Owns: how the figures of the queues are put together, judged and printed. Pure.

const least = 5;
const aim = 12;

export function spread(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const half = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}

const figures = ["jobs_per_s", "enqueue_per_s", "lease_ack_per_s"];

/** One row from all runs of one queue. */
export function row(who, on, runs) {
  const of = (figure) => spread(runs.map((run) => run[figure]));
  return { who, on, runs, ...Object.fromEntries(figures.map((figure) => [figure, of(figure)])) };
}

const whole = (value) => Math.round(value).toLocaleString("en-US");
const times = ({ median, min, max }) =>
  `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;
const told = ({ median, min, max }) => `${whole(median)} (${whole(min)}–${whole(max)})`;

export function table(rows) {
  const lines = [
    ["queue", "on", "enqueue + lease + ack /s", "enqueue /s", "lease + ack /s"],
    ...rows.map((one) => [one.who, one.on, ...figures.map((figure) => told(one[figure]))]),
  ];
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines
    .map((line) => line
      .map((cell, at) => (at < 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join("  ").trimEnd())
    .join("\n");
}

/**
 * How many times as fast ours is as each other: of each round by itself, since what else a machine
 * does in one round both have met. Empty without ours.
 */
export function ratios(rows) {
  const ours = rows.find(({ who }) => who === "holdfast");
  if (!ours) return [];
  return rows.filter((one) => one !== ours).map((one) => {
    const of = (figure) => spread(
      one.runs.map((run, round) => ours.runs[round][figure] / run[figure]));
    return { who: one.who, jobs: of("jobs_per_s"), lease_ack: of("lease_ack_per_s") };
  });
}

/** A line for each of the others. */
export const ratioLines = (rows) => ratios(rows).map(({ who, jobs, lease_ack: ack }) =>
  `holdfast / ${who}: ${times(jobs)} in all, ${times(ack)} lease + ack`);

/** { holds, sentence }: what must be so beside BullMQ; empty when it was not measured. */
export function judge(rows) {
  const beside = ratios(rows).find(({ who }) => who === "bullmq");
  if (!beside) return [];
  const { median } = beside.lease_ack;
  return [{
    holds: median >= least,
    sentence: `lease + ack: ${median.toFixed(1)} times BullMQ's; least ${least}, aim ${aim}`,
  }];
}
