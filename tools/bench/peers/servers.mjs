// Owns: the servers the peers need: on loopback, on free ports, with data in a folder of their own.
// Must never: leave one behind, or touch one that it did not start.
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync, chmodSync, chownSync, constants, mkdirSync, openSync, readFileSync,
} from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { freePort, sleep } from "../../scenes/holdfast.mjs";

const postgresFolder = "/usr/lib/postgresql/15/bin";
const patienceMs = 20_000;
const running = new Set();

/** Why a measurement cannot be made, as one sentence: nothing is wrong with the program. */
export class Missing extends Error {}

function find(program, folders, sentence) {
  for (const folder of folders) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // the next folder
    }
  }
  throw new Missing(sentence);
}

const pathFolders = () => (process.env.PATH ?? "").split(delimiter).filter(Boolean);

export const findRedis = () => find("redis-server", pathFolders(),
  "there is no redis-server; install it with: apt-get install redis-server");
export const findPostgres = () => find("postgres", [postgresFolder],
  "there is no PostgreSQL 15; install it with: apt-get install postgresql-15");

/** "redis 7.0.15", "postgres 15.1": what stands behind a figure. */
export function versionOf(program) {
  const told = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout;
  return /\d+\.\d+(\.\d+)?/.exec(told)?.[0] ?? "unknown";
}

const answers = (port) => new Promise((resolve) => {
  const socket = connect(port, "127.0.0.1");
  socket.once("connect", () => socket.destroy() && resolve(true));
  socket.once("error", () => resolve(false));
});

class Server {
  constructor(command, { folder, stopSignal, log }) {
    const out = openSync(log, "a");
    this.log = log;
    this.stopSignal = stopSignal;
    this.child = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["ignore", out, out] });
    this.gone = new Promise((resolve) => {
      this.child.once("exit", resolve);
      this.child.once("error", resolve);
    });
    running.add(this);
    this.gone.then(() => running.delete(this));
  }

  /** Waits until `isUp` says so. */
  async up(isUp) {
    const until = Date.now() + patienceMs;
    while (Date.now() < until && running.has(this)) {
      if (await isUp()) return;
      await sleep(20);
    }
    const said = readFileSync(this.log, "utf8").trim().split("\n").slice(-3).join("\n");
    await this.stop();
    throw new Error(`${this.child.spawnfile} did not come up:\n${said}`);
  }

  async stop() {
    if (!running.has(this)) return;
    this.child.kill(this.stopSignal);
    const late = setTimeout(() => this.child.kill("SIGKILL"), patienceMs);
    await this.gone;
    clearTimeout(late);
  }
}

/** For the end of the process, however it comes. */
export const stopAll = () => Promise.all([...running].map((server) => server.stop()));

/** Durable: every write is synced before it is answered. */
export async function startRedis(folder) {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const server = new Server([
    findRedis(), "--port", String(port), "--bind", "127.0.0.1", "--dir", folder,
    "--appendonly", "yes", "--appendfsync", "always", "--save", "",
    "--maxmemory-policy", "noeviction", "--daemonize", "no",
  ], { folder, stopSignal: "SIGTERM", log: join(folder, "redis.log") });
  await server.up(() => answers(port));
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.stop() };
}

/** PostgreSQL refuses to run as root: then its programs run as this user, who owns its folder. */
function unprivileged() {
  if (process.getuid() !== 0) return { prefix: [] };
  for (const name of ["postgres", "nobody"]) {
    const line = readFileSync("/etc/passwd", "utf8").split("\n")
      .find((entry) => entry.startsWith(`${name}:`));
    if (!line) continue;
    const [, , uid, gid] = line.split(":").map(Number);
    const prefix = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
    return { prefix, uid, gid };
  }
  throw new Missing("PostgreSQL refuses to run as root, and there is no user postgres or nobody");
}

/** A new cluster a server: what one measurement leaves behind is nothing to the next. */
export async function startPostgres(folder) {
  const { prefix, uid, gid } = unprivileged();
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  if (uid !== undefined) chownSync(folder, uid, gid);
  const data = join(folder, "data");
  const [program, ...rest] = [...prefix, join(postgresFolder, "initdb"), "-D", data,
    "-U", "postgres", "-A", "trust", "--no-instructions", "-E", "UTF8", "--locale=C"];
  findPostgres();
  const made = spawnSync(program, rest, { cwd: "/", encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1", unix_socket_directories: folder, port,
    fsync: "on", synchronous_commit: "on", full_page_writes: "on",
    shared_buffers: "256MB", max_wal_size: "2GB", max_connections: 60,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = new Server([...prefix, join(postgresFolder, "postgres"), "-D", data, ...flags],
    { folder: "/", stopSignal: "SIGINT", log: join(folder, "..", "postgres.log") });
  const isUp = async () => spawnSync(join(postgresFolder, "pg_isready"),
    ["-h", "127.0.0.1", "-p", String(port)]).status === 0;
  await server.up(isUp);
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
}
