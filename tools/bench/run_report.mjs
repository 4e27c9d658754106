// Owns: what the figures of the standard runs are, what they must be, and how they are printed.
// Pure: nothing is measured here.
import { spread } from "./compare_report.mjs";

/**
 * The figures, in the order of the table. `run`: the name that --only knows. `least`: more is
 * better, `most`: less is better; a figure with neither is told and not judged.
 */
export const figures = [
  { name: "floor", run: "floor", unit: "/s", text: "bare loop: durable payments" },
  { name: "null", run: "null", unit: "/s", text: "null chain, 10,000 in flight: payments" },
  {
    name: "null_share", run: "null", least: 0.5, aim: 0.7,
    text: "null chain: share of the bare loop",
  },
  { name: "row_writes", run: "null", most: 30, aim: 20, text: "row writes a payment" },
  {
    name: "target", run: "target", unit: "/s", least: 3000, aim: 6000,
    text: "payouts through HTTP intake, kept-alive",
  },
  {
    name: "fake_node", run: "fake-node", unit: "/s", least: 4000, aim: 6000,
    text: "fake node: JSON-RPC over HTTP both ways",
  },
  { name: "anvil", run: "anvil", unit: "/s", text: "anvil, 1 s blocks: payments" },
  { name: "anvil_alone", run: "anvil", unit: "/s", text: "anvil alone: pre-signed transactions" },
  {
    name: "anvil_share", run: "anvil", least: 0.35, aim: 0.6,
    text: "anvil: share of what it does alone",
  },
  {
    name: "queue", run: "queue", unit: "×", least: 5, aim: 12,
    text: "queue lease + ack against BullMQ",
  },
  {
    name: "memory", run: "memory", unit: " B", most: 6144, aim: 4096,
    text: "memory a payment, 100,000 in flight",
  },
  {
    name: "scale", run: "scale", least: 0.7, aim: 0.9,
    text: "rate at 100,000 in flight / at 1,000",
  },
  {
    name: "broadcast_p99", run: "latency", unit: " ms", most: 60, aim: 25,
    text: "accept to broadcast, p99, at half the rate",
  },
  {
    name: "rpc_calls", run: "rpc", most: 2.2, aim: 1.5,
    text: "JSON-RPC calls a payment, at 1,000/s",
  },
  {
    name: "http_requests", run: "rpc", most: 0.2, aim: 0.05,
    text: "HTTP requests to the node a payment",
  },
  {
    name: "finished", run: "finished", least: 0.5, aim: 0.8,
    text: "rate over finished payments / empty store",
  },
  {
    name: "restart", run: "restart", unit: " ms", most: 5000, aim: 2000,
    text: "restart with 100,000 open payments",
  },
  { name: "erc20", run: "methods", unit: "/s", text: "null chain, ERC-20 payouts" },
  {
    name: "authorization", run: "methods", unit: "/s",
    text: "null chain, signed by payers (EIP-3009)",
  },
  { name: "lost", run: "faults", most: 0, aim: 0, text: "lost, in all runs", sums: true },
  { name: "doubled", run: "faults", most: 0, aim: 0, text: "doubled, in all runs", sums: true },
];

export const runNames = [...new Set(figures.map(({ run }) => run))];

/** "aim", "must", "missed" or "told". */
export function verdict({ least, most, aim }, median) {
  if (least === undefined && most === undefined) return "told";
  const reaches = (bound) => (least !== undefined ? median >= bound : median <= bound);
  if (reaches(aim)) return "aim";
  return reaches(least ?? most) ? "must" : "missed";
}

/** The rows of the table, of all rounds' values by figure; what was not measured is left out. */
export function rowsOf(values) {
  return figures.filter(({ name }) => values[name]?.length > 0).map((figure) => {
    const all = values[figure.name];
    const told = spread(all);
    // What may not happen once is no matter of a median.
    if (figure.sums) told.median = all.reduce((sum, value) => sum + value, 0);
    return { ...figure, values: all, ...told, verdict: verdict(figure, told.median) };
  });
}

export function number(value) {
  if (value === undefined) return "";
  if (Number.isInteger(value) || Math.abs(value) >= 100) {
    return Math.round(value).toLocaleString("en-US");
  }
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

const bound = ({ least, most }, value) =>
  value === undefined ? "" : `${least !== undefined ? "≥" : "≤"} ${number(value)}`;
const words = { aim: "aim met", must: "must met", missed: "MISSED", told: "" };

export function table(rows) {
  const lines = [
    ["", "median", "least", "most", "must", "aim", ""],
    ...rows.map((row) => [
      row.text,
      number(row.median) + (row.unit ?? ""),
      number(row.min),
      number(row.max),
      bound(row, row.least ?? row.most),
      bound(row, row.aim),
      words[row.verdict],
    ]),
  ];
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  const isText = (at) => at === 0 || at === lines[0].length - 1;
  return lines
    .map((line) => line
      .map((cell, at) => (isText(at) ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join("  ").trimEnd())
    .join("\n");
}

/** The last line: what a person wants to know first. */
export function summary(rows) {
  const judged = rows.filter((row) => row.verdict !== "told");
  if (judged.length === 0) return "nothing here must reach anything";
  const missed = judged.filter((row) => row.verdict === "missed");
  const aims = judged.filter((row) => row.verdict === "aim").length;
  const reached = `${judged.length - missed.length} of ${judged.length} figures are what they ` +
    `must be, ${aims} what they aim at`;
  if (missed.length === 0) return reached;
  return `${reached}; missed: ${missed.map((row) => row.name).join(", ")}`;
}
