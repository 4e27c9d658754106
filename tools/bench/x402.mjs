// Holdfast beside npm's reference facilitator, in the same run on the same node; see x402.
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { account, artifact } from "../scenes/anvil.mjs";
import { sleep } from "../scenes/holdfast.mjs";
import { chainId, createHoldfast, startReference, startWorld } from "../scenes/x402/world.mjs";
import { judge, row, table } from "./x402_report.mjs";

const amount = 1000n;
const { values: options } = parseArgs({
  options: {
    holdfast: { type: "string" },  // without it: the reference alone
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const levels = options.quick ? [1, 8, 32] : [1, 8, 32, 128, 256];
const fewest = options.quick ? 4 : 30;
const settlesAt = (inFlight) => Math.max(fewest, inFlight * (options.quick ? 2 : 6));
const verifySeconds = options.quick ? 2 : 6;
const verifyInFlight = 64;

/** A child that answers each message with one. */
class Helper {
  constructor(script) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    this.child = fork(path, { stdio: "inherit" });
  }

  ask(message) {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error("a helper process of the benchmark ended"));
      this.child.once("exit", gone);
      this.child.once("message", (answer) => {
        this.child.off("exit", gone);
        resolve(answer);
      });
      this.child.send(message);
    });
  }

  end() {
    this.child.disconnect();
  }
}

/** Milliseconds that all threads of a process have run. schedstat counts nanoseconds, where
 * /proc/PID/stat counts ticks of 10 ms. */
function cpuMsOf(pid) {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return ns / 1e6;
}

function rssMbOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

const say = (text) => console.error(text);

class Bench {
  cleanUp = [];
  rows = [];

  async start(folder) {
    // Room in a block for everything, so that neither waits for a second one.
    this.world = await startWorld({
      owners: [account(4).address], amount: 10n ** 15n,
      anvilOptions: ["--gas-limit", "300000000"],
    });
    this.cleanUp.push(() => this.world.anvil.process.kill());
    this.proxy = new Helper("./x402_proxy.mjs");
    this.load = new Helper("./x402_load.mjs");
    this.cleanUp.push(() => this.proxy.end(), () => this.load.end());
    this.facilitators = [await this.startReference(folder)];
    if (options.holdfast) this.facilitators.push(await this.startHoldfast(folder));
  }

  async behindProxy() {
    const { port } = await this.proxy.ask({ open: this.world.anvil.url });
    return { port, rpcUrl: `http://127.0.0.1:${port}` };
  }

  async startReference(folder) {
    const { port, rpcUrl } = await this.behindProxy();
    const reference = await startReference({ rpcUrl, folder });
    this.cleanUp.push(() => reference.process.kill());
    return { who: "reference", url: reference.url, pid: reference.process.pid, port };
  }

  async startHoldfast(folder) {
    const { port, rpcUrl } = await this.behindProxy();
    const holdfast = await createHoldfast({
      binary: options.holdfast, folder, rpcUrl, token: this.world.token, accounts: [account(1)],
      more: "max_unconsumed = 8192\n",  // one account each, and no limit to what it has waiting
    });
    this.cleanUp.push(() => holdfast.process?.kill("SIGKILL"));
    await holdfast.start();
    const { facilitator: url, token: key } = holdfast;
    return { who: "holdfast", url, key, pid: holdfast.process.pid, port, holdfast };
  }

  async prepare(count) {
    const payTo = `0x${randomBytes(20).toString("hex")}`;
    await this.load.ask({
      prepare: { count, chainId, asset: this.world.asset, payTo, amount: String(amount) },
    });
    return payTo;
  }

  /** How often `payTo` was paid; two blocks later, so that nothing late is missed. */
  async chargedTo(payTo) {
    await sleep(2500);
    const { client, token } = this.world;
    const has = await client.readContract({
      address: token, abi: artifact.abi, functionName: "balanceOf", args: [payTo],
    });
    return Number(has / amount);
  }

  async measure(one, act, inFlight, extra, payTo) {
    const before = { cpu: cpuMsOf(one.pid), counted: await this.proxy.ask({ count: one.port }) };
    const told = await this.load.ask({
      run: { act, url: one.url, key: one.key, inFlight, ...extra },
    });
    const cpuMs = cpuMsOf(one.pid) - before.cpu;
    const counted = await this.proxy.ask({ count: one.port });
    counted.calls -= before.counted.calls;
    counted.requests -= before.counted.requests;
    for (const [name, times] of Object.entries(before.counted.methods)) {
      counted.methods[name] -= times;
    }
    const charged = act === "settle" ? await this.chargedTo(payTo) : undefined;
    const made = row({
      who: one.who, act, inFlight, told, cpuMs, counted, rssMb: rssMbOf(one.pid), charged,
    });
    this.rows.push(made);
    const failures = made.failed > 0 ? `  failed: ${JSON.stringify(made.failures)}` : "";
    say(`${one.who}, ${act}, ${inFlight} in flight: ${made.done} done${failures}`);
  }

  async run() {
    for (const one of this.facilitators) {  // whoever compiles or connects late does it now
      await this.prepare(4);
      await this.load.ask({
        run: { act: "settle", url: one.url, key: one.key, inFlight: 4 },
      });
    }
    for (const inFlight of levels) {
      for (const one of this.facilitators) {
        const payTo = await this.prepare(settlesAt(inFlight));
        await this.measure(one, "settle", inFlight, {}, payTo);
      }
    }
    for (const one of this.facilitators) {
      await this.prepare(256);
      await this.measure(one, "verify", verifyInFlight, { seconds: verifySeconds });
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-x402-"));
const bench = new Bench();
let judged = [];
let ran = false;
try {
  await bench.start(folder);
  await bench.run();
  judged = judge(bench.rows);
  ran = true;
} catch (error) {
  console.error(`bench: ${error.stack}`);
}
if (bench.rows.length > 0) console.log(table(bench.rows));
for (const { holds, sentence } of options.holdfast ? judged : []) {
  console.log(`${holds ? "kept  " : "MISSED"}  ${sentence}`);
}
if (options.json) {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model };
  const all = { machine, rows: bench.rows, judged };
  writeFileSync(options.json, `${JSON.stringify(all, null, 1)}\n`);
}
for (const step of bench.cleanUp.reverse()) step();
if (options.keep) console.log(`store, log and configuration are in ${folder}`);
else rmSync(folder, { recursive: true });
const good = ran && judged.every(({ holds }) => holds);
process.exit(good || (ran && !options.holdfast) ? 0 : 1);
