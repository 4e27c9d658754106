// The standard runs, in rounds; see run.
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { number, rowsOf, runNames, summary, table } from "./run_report.mjs";

function usage(sentence) {
  process.stderr.write(`run: ${sentence}\n`);
  process.exit(2);
}

function numberOf(name, text, least, most) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    usage(`--${name} is a whole number from ${least} to ${most}, not '${text}'`);
  }
  return value;
}

function read() {
  const { values } = parseArgs({
    options: {
      built: { type: "string" },
      only: { type: "string", default: runNames.join(",") },
      rounds: { type: "string", default: "5" },
      quick: { type: "boolean", default: false },
      finished: { type: "string" },
      filled: { type: "string" },
      compare: { type: "boolean", default: false },
      folder: { type: "string", default: tmpdir() },
      json: { type: "string" },
      check: { type: "boolean", default: false },  // are the options good? no more
    },
  });
  const only = values.only.split(",");
  const stranger = only.find((name) => !runNames.includes(name));
  if (stranger !== undefined) usage(`--only knows ${runNames.join(", ")}, not '${stranger}'`);
  // Found out before two hours of measuring, not after.
  for (const [option, folder] of [
    ["folder", values.folder],
    ["json", values.json && dirname(resolve(values.json))],
    ["filled", values.filled && dirname(resolve(values.filled))],
  ]) {
    try {
      if (folder) accessSync(folder, constants.W_OK);
    } catch {
      usage(`--${option}: the folder ${folder} is not there, or takes no files`);
    }
  }
  return {
    ...values,
    only,
    rounds: numberOf("rounds", values.rounds, 1, 25),
    finished: values.finished && numberOf("finished", values.finished, 1, 100_000_000),
  };
}

const options = read();
if (options.check) process.exit(0);
// What comes from npm is asked for only now: a wrong option is told where nothing is installed yet.
const { Round, runs } = await import("./run_list.mjs");
const { endAll } = await import("./run_programs.mjs");

const values = {};  // of each figure, one a round
const told = [];  // all that the programs said
const add = (name, value) => {
  if (Number.isFinite(value)) (values[name] ??= []).push(value);
};

/** One run of one round; a run that cannot be measured is told, and the others go on. */
async function one(name, round, shared, wrong) {
  const began = performance.now();
  process.stderr.write(`round ${round.round} of ${options.rounds}: ${name}\n`);
  try {
    const figures = await runs[name](round, shared);
    for (const [figure, value] of Object.entries(figures)) {
      if (!(round.given[figure])) add(figure, value);
      round.given[figure] = true;
    }
    const seconds = Math.round((performance.now() - began) / 1000);
    const said = Object.entries(figures).map(([key, value]) => `${key} ${number(value)}`);
    process.stderr.write(`  ${[...said, `${seconds} s`].join(", ")}\n`);
  } catch (error) {
    if (interrupted) throw error;
    wrong.push(`${name}, round ${round.round}: ${error.message}`);
    process.stderr.write(`  could not be measured: ${error.message}\n`);
  }
}

let interrupted = false;
const folder = mkdtempSync(join(options.folder, "holdfast-bench-"));
const leave = async () => {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
};
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    interrupted = true;
    leave().finally(() => process.exit(130));
  });
}

try {
  const load = loadavg()[0];
  const wrong = [];
  const shared = {};
  const machine = {
    cores: cpus().length, model: cpus()[0]?.model, memory_bytes: totalmem(), load_before: load,
  };
  const save = (rounds) => {
    if (!options.json) return;
    const figures = rowsOf(values);
    const all = {
      machine, rounds, quick: options.quick, figures, not_measured: wrong, runs: told,
    };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  };
  for (let round = 1; round <= options.rounds; round += 1) {
    let lost = 0;
    let doubled = 0;
    const note = (name, one) => {
      told.push({ round, name, ...one });
      lost += one.lost ?? 0;
      doubled += one.doubled ?? 0;
    };
    const at = new Round({
      built: options.built,
      folder,
      round,
      scale: options.quick ? 0.1 : 1,
      finished: options.finished,
      filled: options.filled,
      peers: options.compare,
      given: {},
      note,
    });
    for (const name of options.only) await one(name, at, shared, wrong);
    if (told.some((each) => each.round === round && each.lost !== undefined)) {
      add("lost", lost);
      add("doubled", doubled);
    }
    save(round);  // a run that is broken off keeps its whole rounds
  }
  const rows = rowsOf(values);
  console.log(`\nmedian, least and most of ${options.rounds} rounds` +
    `${options.quick ? ", a tenth of the payments" : ""}; ${machine.cores} cores, load before ` +
    `${load.toFixed(1)}\n`);
  console.log(table(rows));
  console.log(`\n${summary(rows)}`);
  for (const sentence of wrong) console.log(`not measured: ${sentence}`);
  const good = wrong.length === 0 && rows.every((row) => row.verdict !== "missed");
  process.exitCode = good ? 0 : 1;
} catch (error) {
  const said = error.stack.split("\n").slice(0, 8).join("\n");
  if (!interrupted) process.stderr.write(`run: ${said}\n`);
  process.exitCode = interrupted ? 130 : 1;
} finally {
  await leave();
}
