// Forbidden words: calls that a simulated or crash-safe engine must not make, and traces of one
// machine in what is committed. Comments and strings are not read for calls.

import process from "node:process";
import {
  codeOf, filesUnder, isCpp, linesOf, read, Report, rootFrom, trackedFiles,
} from "./lint.mjs";

const simulated = /^(src|include\/holdfast)\/(domain|ports|store|engine|sim|sqlite)\//;
// Programs that meet the real world on purpose, and where its clock and chance come in.
const realWorld = new RegExp("^(tests/(interop|embedding)/|tests/support/real_time\\.cpp$|"
  + "tests/cases/system_faults\\.cpp$|tools/bench/)");
const clock = /^src\/app\/system_clock\.cpp$/;
const entropy = /^src\/app\/system_entropy\.cpp$/;

const calls = [
  { word: /\bthis_thread\s*::\s*sleep_|\b(u|nano)sleep\s*\(|(?<!\w)::sleep\s*\(/,
    allowed: [realWorld], why: "sleeps; wait on the Clock port" },
  { word: /\bdetached\b/, allowed: [],
    why: "is a coroutine that nobody joins; give it to a task group" },
  { word: /\b(system|steady|high_resolution)_clock\s*::\s*now\b/, allowed: [clock, realWorld],
    why: "reads the real clock; ask the Clock port, or take the time as a parameter" },
  { word: /\b(clock_gettime|gettimeofday)\s*\(|(?<![\w.>])time\s*\(\s*(nullptr|NULL|0|&)/,
    allowed: [clock, realWorld], why: "reads the real clock; ask the Clock port" },
  { word: /\brandom_device\b|\bRAND_bytes\b|\bgetrandom\b|(?<![\w:.>])s?rand\s*\(/,
    allowed: [entropy, realWorld], why: "is chance without a seed; ask the Entropy port" },
  { word: /(?<![\w])assert\s*\(/, allowed: [],
    why: "can be compiled away; ensure() cannot" },
  { word: /\b(steady|system|high_resolution)_timer\b|\bdeadline_timer\b/, where: simulated,
    allowed: [], why: "is a timer of Asio's and runs on the real clock; wait on the Clock port" },
  { word: /\busing\s+namespace\s+std\s*;/, allowed: [], why: "hides where names come from" },
];

// Written so that this file does not match itself.
const traces = [
  { word: /(^|[\s"'`(=:])\/(?:work|root|home|Users|tmp\/bash)[/][\w.]/,
    why: "is a path of one machine" },
  { word: /\b(?:registry|deb|security|snapshot|index|proxy)\.[a-z]+(?:js)?\.(?:org|com|io|net)\b/,
    why: "names the host of a package registry; its client knows it" },
  { word: /"resolved":\s*"/,
    why: "pins a registry's host; lock with omit-lockfile-registry-resolved" },
];

const root = rootFrom(process.argv);
const report = new Report("words");

const sources = filesUnder(root, ["src", "include", "tests", "tools/bench", "cmake"]).filter(isCpp);
for (const path of sources) {
  linesOf(codeOf(read(root, path))).forEach((text, at) => {
    for (const { word, where, allowed, why } of calls) {
      const found = text.match(word);
      if (!found || (where && !where.test(path))) continue;
      if (allowed.some((place) => place.test(path))) continue;
      report.add(path, at + 1, `\`${found[0].trim()}\` ${why}`);
    }
  });
}

const isText = (path) => !/\.(png|ico|jpg|gz|sqlite|db)$/.test(path);
const tracked = trackedFiles(root)
  .filter((path) => isText(path) && !path.startsWith("tools/lint/fixtures/"));
for (const path of tracked) {
  linesOf(read(root, path)).forEach((text, at) => {
    for (const { word, why } of traces) {
      const found = text.match(word);
      if (found) report.add(path, at + 1, `\`${found[0].trim()}\` ${why}`);
    }
  });
}
report.end(`${sources.length} sources, ${tracked.length} files`);
