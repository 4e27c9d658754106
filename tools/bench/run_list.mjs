// Owns: the standard runs: how each is measured, once a round, and which figures it gives.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { anvilAlone, presign } from "./anvil_alone.mjs";
import {
  measure, startFakeNode, startRoomyAnvil, startServer, tokenVariable, work,
} from "./run_programs.mjs";

const comparePath = fileURLToPath(new URL("compare.mjs", import.meta.url));

/** What the runs of one round share: each is measured once, by whoever asks first. */
export class Round {
  /** `setting`: { built, folder, round, scale, finished, filled, peers, note(told) }. */
  constructor(setting) {
    Object.assign(this, setting);
    this.known = new Map();
  }

  count(full) {
    return Math.max(1, Math.round(full * this.scale));
  }

  /** Throws when payments stopped, or were not taken; lost and doubled ones are counted. */
  async load(name, words, seed = this.round) {
    if (!this.known.has(name)) {
      const program = join(this.built, "holdfast-load");
      const all = [...words, "--seed", seed].map(String);
      const told = await measure(program, all, { TMPDIR: this.folder });
      this.note(name, told);
      if (told.exit_code !== 0 && told.lost + told.doubled === 0) {
        throw new Error(`holdfast-load ${all.join(" ")} did not go through`);
      }
      this.known.set(name, told);
    }
    return this.known.get(name);
  }

  async floor() {
    if (!this.known.has("floor")) {
      const words = ["floor", "--folder", this.folder, "--seconds", this.scale < 1 ? "1" : "5"];
      const told = await measure(join(this.built, "holdfast-bench"), words);
      this.known.set("floor", told);
      this.note("floor", told);
    }
    return this.known.get("floor");
  }

  at1000() {
    return this.load("null, 1,000 in flight",
      ["--payments", this.count(30_000), "--in-flight", 1000]);
  }

  at10000() {
    return this.load("null, 10,000 in flight",
      ["--payments", this.count(60_000), "--in-flight", this.count(10_000)]);
  }

  at100000() {
    return this.load("null, 100,000 in flight",
      ["--payments", this.count(200_000), "--in-flight", this.count(100_000)]);
  }
}

async function targetRun(round) {
  const node = await startFakeNode(join(round.built, "holdfast-load"));
  const inFlight = round.count(4000);
  let server;
  try {
    server = await startServer({
      binary: join(round.built, "holdfast"),
      folder: join(round.folder, "server"),
      rpcUrl: node.url,
      inFlight,
    });
    process.env[tokenVariable] = server.token;
    const told = await round.load("target", ["--target", server.url, "--token-env", tokenVariable,
      "--chain", node.url, "--payments", round.count(30_000), "--in-flight", inFlight]);
    return { target: told.payments_per_s };
  } finally {
    await server?.stop();
    await node.stop();
  }
}

// A node of its own for each: neither meets the other's transactions.
async function anvilRun(round, shared) {
  const count = round.count(40_000);
  shared.presigned ??= await presign(count);
  const on = async (use) => {
    const node = await startRoomyAnvil();
    try {
      return await use(node.url);
    } finally {
      await node.stop();
    }
  };
  const alone = await on((url) => anvilAlone(url, shared.presigned));
  round.note("anvil alone", { transactions: count, per_s: alone });
  const told = await on((url) => round.load("anvil",
    ["--chain", url, "--payments", count, "--in-flight", round.count(10_000)]));
  return {
    anvil: told.payments_per_s, anvil_alone: alone, anvil_share: told.payments_per_s / alone,
  };
}

async function queueRun(round) {
  const file = join(round.folder, "queue.json");
  const only = ["holdfast", "bullmq", ...(round.peers ? ["graphile-worker", "pg-boss"] : [])];
  await work(process.execPath, [comparePath, "--bench", join(round.built, "holdfast-bench"),
    "--jobs", String(round.count(20_000)), "--runs", "1", "--only", only.join(","),
    "--folder", round.folder, "--json", file]);
  const told = JSON.parse(readFileSync(file, "utf8"));
  rmSync(file);
  round.note("queue", told);
  return { queue: told.ratios.find(({ who }) => who === "bullmq").lease_ack.median };
}

async function latencyRun(round) {
  const rates = [await round.at1000(), await round.at10000()].map((told) => told.payments_per_s);
  const half = Math.max(1, Math.round(Math.max(...rates) / 2));
  const told = await round.load("half the rate", ["--rate", half,
    "--payments", Math.max(100, Math.round(half * 15 * Math.sqrt(round.scale))),
    "--in-flight", 10_000]);
  return { broadcast_p99: told.broadcast_p99_ms };
}

async function rpcRun(round) {
  const told = await round.load("1,000 payments/s", ["--chain", "fake-node", "--rate", 1000,
    "--payments", round.count(15_000), "--in-flight", 10_000]);
  return { rpc_calls: told.rpc_calls_per_payment, http_requests: told.http_requests_per_payment };
}

/** Made once for all rounds: what a round adds to it is little. */
async function fill(round, shared) {
  if (shared.filled) return shared.filled;
  const kept = round.filled;
  shared.filled = kept ?? join(mkdtempSync(join(round.folder, "filled-")), "store.db");
  if (kept && existsSync(kept)) return kept;
  const count = round.finished ?? round.count(5_000_000);
  process.stderr.write(`  a store with ${count.toLocaleString("en-US")} finished payments\n`);
  const told = await measure(join(round.built, "holdfast-bench"),
    ["fill", "--store", shared.filled, "--payments", String(count)]);
  round.note("fill", told);
  return shared.filled;
}

async function finishedRun(round, shared) {
  const store = await fill(round, shared);
  const empty = await round.at1000();
  const told = await round.load("over finished payments", ["--payments", round.count(30_000),
    "--in-flight", 1000, "--store", store, "--on-top"], Date.now());  // a seed it has not seen
  return { finished: told.payments_per_s / empty.payments_per_s };
}

async function faultsRun(round) {
  const words = ["--payments", round.count(20_000), "--in-flight", 2000, "--fault-rate", 0.05];
  await round.load("null, with faults", words);
  await round.load("fake node, with faults", ["--chain", "fake-node", ...words]);
  await round.load("signed, with faults", ["--method", "authorization", ...words]);
  return {};
}

/** By the names that --only knows. Each gives figures of run_report.mjs for one round. */
export const runs = {
  floor: async (round) => ({ floor: (await round.floor()).payments_per_s }),
  null: async (round) => {
    const floor = await round.floor();
    const told = await round.at10000();
    return {
      floor: floor.payments_per_s,
      null: told.payments_per_s,
      null_share: told.payments_per_s / floor.payments_per_s,
      row_writes: told.row_writes_per_payment,
    };
  },
  "fake-node": async (round) => ({
    fake_node: (await round.load("fake node", ["--chain", "fake-node",
      "--payments", round.count(40_000), "--in-flight", round.count(4000)])).payments_per_s,
  }),
  target: targetRun,
  anvil: anvilRun,
  queue: queueRun,
  memory: async (round) => ({ memory: (await round.at100000()).bytes_per_in_flight }),
  scale: async (round) => ({
    scale: (await round.at100000()).payments_per_s / (await round.at1000()).payments_per_s,
  }),
  latency: latencyRun,
  rpc: rpcRun,
  finished: finishedRun,
  restart: async (round) => ({
    restart: (await round.load("restart", ["--payments", 1000, "--restart",
      "--in-flight", round.count(100_000)])).restart_ms,
  }),
  faults: faultsRun,
  methods: async (round) => {
    const words = ["--payments", round.count(20_000), "--in-flight", round.count(10_000)];
    const erc20 = await round.load("erc20", ["--method", "erc20", ...words]);
    const signed = await round.load("authorization", ["--method", "authorization", ...words]);
    return { erc20: erc20.payments_per_s, authorization: signed.payments_per_s };
  },
};
