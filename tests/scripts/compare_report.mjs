// What tools/bench/compare makes of its runs: medians, ratios, and the sentence it ends with.
import assert from "node:assert/strict";
import {
  judge, ratioLines, ratios, row, spread, table,
} from "../../tools/bench/compare_report.mjs";

const run = (jobs, ack) => ({ jobs_per_s: jobs, enqueue_per_s: 2 * jobs, lease_ack_per_s: ack });
const ours = row("holdfast", "its own store", [run(10, 100), run(30, 90), run(24, 110)]);
const theirs = (ack) => row("bullmq", "redis 7.0.15", [run(5, ack), run(4, ack), run(6, ack)]);

assert.deepEqual(spread([3, 1, 2]), { median: 2, min: 1, max: 3 });
assert.deepEqual(spread([4, 1]), { median: 2.5, min: 1, max: 4 });
assert.deepEqual(ours.lease_ack_per_s, { median: 100, min: 90, max: 110 });
// Round by round, in the order of the runs: 10/5, 30/4, 24/6.
assert.deepEqual(ratios([ours, theirs(20)]), [{
  who: "bullmq",
  jobs: { median: 4, min: 2, max: 7.5 },
  lease_ack: { median: 5, min: 4.5, max: 5.5 },
}]);
assert.deepEqual(ratios([theirs(20)]), []);
assert.equal(judge([ours, theirs(20)])[0].holds, true);
assert.equal(judge([ours, theirs(21)])[0].holds, false);
assert.deepEqual(judge([ours]), []);
assert.deepEqual(ratioLines([ours, theirs(20)]),
  ["holdfast / bullmq: 4.0 (2.0–7.5) in all, 5.0 (4.5–5.5) lease + ack"]);
const lines = table([ours, theirs(20)]).split("\n");
assert.equal(lines.length, 3);
assert.equal(new Set(lines.map((line) => line.length)).size, 1, "the last column ends as one");
console.log("the figures are judged as they should be");
