// Our queue and others, measured in turns; see compare.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { judge, ratioLines, ratios, row, table } from "./compare_report.mjs";
import {
  findPostgres, findRedis, Missing, startPostgres, startRedis, stopAll, versionOf,
} from "./peers/servers.mjs";

const run = promisify(execFile);
const peer = (script) => fileURLToPath(new URL(`peers/${script}`, import.meta.url));
const onRedis = { start: startRedis, find: findRedis, name: "redis" };
const onPostgres = { start: startPostgres, find: findPostgres, name: "PostgreSQL" };
const queues = {
  holdfast: {},
  bullmq: { server: onRedis, script: peer("bullmq.mjs") },
  "graphile-worker": { server: onPostgres, script: peer("graphile_worker.mjs") },
  "pg-boss": { server: onPostgres, script: peer("pg_boss.mjs") },
};

function usage(sentence) {
  process.stderr.write(`compare: ${sentence}\n`);
  process.exit(2);
}

function numberOf(options, name, most) {
  const value = Number(options[name]);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    usage(`--${name} is a whole number from 1 to ${most}, not '${options[name]}'`);
  }
  return value;
}

function read() {
  const { values: options } = parseArgs({
    options: {
      bench: { type: "string" },
      jobs: { type: "string", default: "20000" },
      runs: { type: "string", default: "3" },
      only: { type: "string", default: Object.keys(queues).join(",") },
      folder: { type: "string", default: tmpdir() },
      json: { type: "string" },
      check: { type: "boolean", default: false },  // are options and servers there? no more
    },
  });
  const only = options.only.split(",");
  const stranger = only.find((name) => !(name in queues));
  if (stranger !== undefined) {
    usage(`--only knows ${Object.keys(queues).join(", ")}, not '${stranger}'`);
  }
  const jobs = numberOf(options, "jobs", 1_000_000);
  return { ...options, only, jobs, runs: numberOf(options, "runs", 25) };
}

/** One measurement: a fresh store, or a fresh server that nothing else uses. */
async function measure(name, folder, options) {
  const { server, script } = queues[name];
  if (!server) {
    const words = ["queue", "--jobs", String(options.jobs), "--folder", folder, "--json"];
    return JSON.parse((await run(options.bench, words)).stdout);
  }
  const data = join(folder, "data");
  const started = await server.start(data);
  try {
    const told = await run(process.execPath, [script, started.url, String(options.jobs)]);
    return JSON.parse(told.stdout);
  } finally {
    await started.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

const options = read();
let folder;
let interrupted = false;
const leave = async () => {
  await stopAll();
  if (folder) rmSync(folder, { recursive: true, force: true });
};
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    interrupted = true;
    leave().finally(() => process.exit(130));
  });
}
try {
  const on = Object.fromEntries(options.only.map((name) => {
    const { server } = queues[name];
    return [name, server ? `${server.name} ${versionOf(server.find())}` : "its own store"];
  }));
  if (options.check) process.exit(0);
  const load = loadavg()[0];
  folder = mkdtempSync(join(options.folder, "holdfast-compare-"));
  chmodSync(folder, 0o711);  // the server's user passes through it
  const told = Object.fromEntries(options.only.map((name) => [name, []]));
  for (let round = 1; round <= options.runs; round += 1) {
    for (const name of options.only) {
      const one = await measure(name, folder, options);
      told[name].push(one);
      process.stderr.write(`run ${round}: ${name}: ${Math.round(one.jobs_per_s)} jobs/s\n`);
    }
  }
  const rows = options.only.map((name) => row(name, on[name], told[name]));
  const judged = judge(rows);
  console.log(`\n${options.jobs} jobs, every step durable; median (least–most) of ` +
    `${options.runs} runs; ${cpus().length} cores, load before ${load.toFixed(1)}\n`);
  console.log(table(rows));
  console.log(`\n${ratioLines(rows).join("\n")}`);
  for (const { holds, sentence } of judged) {
    console.log(`${holds ? "holds" : "FAILS"}  ${sentence}`);
  }
  if (options.json) {
    const { jobs } = options;
    const all = { jobs, cores: cpus().length, load, rows, ratios: ratios(rows), judged };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  }
  process.exitCode = judged.every(({ holds }) => holds) ? 0 : 1;
} catch (error) {
  // What a peer says when its server is stopped beneath it is no news.
  const said = error instanceof Missing ? error.message : error.stack;
  if (!interrupted) process.stderr.write(`compare: ${said.split("\n").slice(0, 12).join("\n")}\n`);
  process.exitCode = interrupted ? 130 : 1;
} finally {
  await leave();
}
