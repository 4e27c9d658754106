// Owns: what the standard runs start: our programs, a node, a server; each ended by its own pid.
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { account, startAnvil } from "../scenes/anvil.mjs";
import { Holdfast } from "../scenes/holdfast.mjs";

const running = new Set();

/** What a child printed, and how it ended; its stderr is ours, so its live line is seen. */
function run(program, words, environment) {
  const child = spawn(program, words, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  return new Promise((resolve, reject) => {
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(child);
      resolve({ code, out });
    });
  });
}

/** The JSON object that a program prints. A run that lost payments prints one, too, and is told. */
export async function measure(program, words, environment = {}) {
  const { code, out } = await run(program, [...words, "--json"], environment);
  let told;
  try {
    told = JSON.parse(out);
  } catch {
    throw new Error(`${program} ${words.join(" ")} ended with code ${code} and told nothing`);
  }
  return { ...told, exit_code: code, command: words.join(" ") };
}

/** Runs a program for its work alone. */
export async function work(program, words) {
  const { code } = await run(program, words, {});
  if (code !== 0) throw new Error(`${program} ${words.join(" ")} ended with code ${code}`);
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

/** Whatever still runs. */
export async function endAll() {
  await Promise.all([...running].map(end));
}

/** { url, stop() }: `holdfast-load node`. */
export async function startFakeNode(program, words = []) {
  const child = spawn(program, ["node", ...words], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.once("exit", (code) => reject(new Error(`the fake node ended with code ${code}`)));
  });
  return { url, stop: () => end(child).then(() => running.delete(child)) };
}

/** { url, stop() }: anvil with one-second blocks and room in each. */
export async function startRoomyAnvil() {
  const { process: child, url } = await startAnvil(["--gas-limit", "3000000000"]);
  child.removeAllListeners("exit");
  running.add(child);
  return { url, stop: () => end(child).then(() => running.delete(child)) };
}

export const tokenAddress = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const tokenVariable = "HOLDFAST_BENCH_TOKEN";

/** { url, token, stop() }: `holdfast serve` with limits as wide as the load. */
export async function startServer({ binary, folder, rpcUrl, inFlight, accounts = 32 }) {
  mkdirSync(folder);
  const server = await Holdfast.create({
    binary,
    folder,
    rpcUrl,
    token: tokenAddress,
    accounts: Array.from({ length: accounts }, (_, index) => account(index)),
    pollMs: 50,
    engine: `max_in_flight = ${Math.max(2000, inFlight)}\n` +
      `calls_in_flight = ${Math.min(100_000, Math.max(256, inFlight))}`,
    more: `max_unconsumed = ${Math.min(10_000, inFlight + 1000)}`,
    asset: '  [[chain.asset]]\n  address = "native"\n',
    sections: '[log]\nlevel = "warn"',
    scopes: ["pay", "payout", "ops"],
  });
  await server.start();
  running.add(server.process);
  return {
    url: server.url,
    token: server.token,
    stop: async () => {
      running.delete(server.process);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
