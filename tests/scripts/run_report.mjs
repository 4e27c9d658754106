// What tools/bench/run makes of its rounds: medians, verdicts, the table and its last line.
import assert from "node:assert/strict";
import {
  figures, number, rowsOf, runNames, summary, table, verdict,
} from "../../tools/bench/run_report.mjs";

const more = { least: 0.5, aim: 0.7 };
const less = { most: 60, aim: 25 };
assert.equal(verdict(more, 0.49), "missed");
assert.equal(verdict(more, 0.5), "must");
assert.equal(verdict(more, 0.7), "aim");
assert.equal(verdict(less, 61), "missed");
assert.equal(verdict(less, 60), "must");
assert.equal(verdict(less, 25), "aim");
assert.equal(verdict({}, 1), "told");

const rows = rowsOf({
  null_share: [0.6, 0.4, 0.8],
  broadcast_p99: [90, 70, 20],
  anvil: [10],
  lost: [0, 0, 1],
  doubled: [0],
});
const of = (name) => rows.find((row) => row.name === name);
const { median, min, max } = of("null_share");
assert.deepEqual([median, min, max], [0.6, 0.4, 0.8]);
assert.equal(of("null_share").verdict, "must");
assert.equal(of("broadcast_p99").verdict, "missed");
assert.equal(of("anvil").verdict, "told");
assert.equal(of("lost").median, 1, "one lost payment is not outvoted by the other rounds");
assert.equal(of("lost").verdict, "missed");
assert.equal(of("doubled").verdict, "aim");
assert.equal(of("memory"), undefined, "what was not measured has no row");

const lines = table(rows).split("\n");
assert.equal(lines.length, 1 + rows.length);
const missed = lines.filter((line) => line.includes("MISSED"));
const places = new Set(missed.map((line) => line.indexOf("MISSED")));
assert.equal(places.size, 1, "the verdicts stand below one another");
assert.ok(lines.some((line) => line.includes("≤ 60") && line.includes("≤ 25")));
assert.equal(summary(rows), "2 of 4 figures are what they must be, 1 what they aim at; " +
  "missed: broadcast_p99, lost");

assert.equal(summary(rowsOf({ anvil: [10] })), "nothing here must reach anything");
assert.equal(number(12345.6), "12,346");
assert.equal(number(0.123), "0.12");
assert.equal(number(12.34), "12.3");
assert.equal(new Set(figures.map(({ name }) => name)).size, figures.length);
for (const { least, most, aim } of figures) {
  assert.ok(least === undefined || aim >= least);
  assert.ok(most === undefined || aim <= most);
}
assert.ok(runNames.includes("fake-node"));
console.log("the standard runs are judged as they should be");
