// A real holdfast: its configuration, its process, its HTTP face.
import { execFile, spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { tokenName, tokenVersion } from "./anvil.mjs";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const hex = (bytes) => "0x" + Buffer.from(bytes).toString("hex");

export class Holdfast {
  /**
   * `accounts`: those that send, as viem accounts with a key. `engine`, `more`, `asset`: lines
   * for [engine], the chain and its token; `sections`: whole sections before the chain's.
   */
  static async create({
    binary, folder, rpcUrl, token, accounts, chainId = 31337, pollMs = 250, engine = "", more = "",
    asset = "", sections = "", scopes = ["pay", "payout", "ops"],
  }) {
    const self = new Holdfast();
    self.binary = binary;
    self.folder = folder;
    self.port = await freePort();
    self.url = `http://127.0.0.1:${self.port}`;
    self.config = join(folder, "holdfast.toml");
    self.logFile = join(folder, "holdfast.log");
    const keys = accounts.map((one, index) => {
      const file = join(folder, `account-${index}.key`);
      writeFileSync(file, hex(one.getHdKey().privateKey) + "\n", { mode: 0o600 });
      return `  [[chain.account]]\n  key_file = "${file}"\n`;
    });
    writeFileSync(
      self.config,
      `[store]
path = "${join(folder, "holdfast.db")}"
[http]
port = ${self.port}
[engine]
${engine}
${sections}
[[chain]]
id = "eip155:${chainId}"
rpc_url = "${rpcUrl}"
poll_ms = ${pollMs}
${more}
  [[chain.asset]]
  address = "${token}"
  name = "${tokenName}"
  version = "${tokenVersion}"
${asset}
${keys.join("")}`,
    );
    self.token = await self.verb("keys", "add", "scene",
      ...scopes.flatMap((scope) => ["--scope", scope]), "--config", self.config);
    return self;
  }

  /** Runs another verb to its end; what it printed, or an exception with that and its code. */
  async verb(...args) {
    // Not execFileSync: a blocked process drains no output of the node's, and the node stops.
    try {
      return (await promisify(execFile)(this.binary, args)).stdout.trim();
    } catch (error) {
      throw new Error(
        `holdfast ${args.join(" ")} ended with ${error.code}: ${error.stdout}${error.stderr}`,
      );
    }
  }

  async start() {
    const log = openSync(this.logFile, "a");
    this.process = spawn(this.binary, ["serve", "--config", this.config], {
      stdio: ["ignore", log, log],
    });
    this.exited = new Promise((resolve) =>
      this.process.on("exit", (code, signal) => resolve({ code, signal })),
    );
    let ended = null;
    this.exited.then((how) => (ended = how));
    for (let i = 0; i < 300; ++i) {
      if (ended) throw new Error(`holdfast ended with code ${ended.code}; see ${this.logFile}`);
      const ready = await fetch(`${this.url}/readyz`).catch(() => null);
      if (ready?.status === 200) return;
      await sleep(50);
    }
    throw new Error(`holdfast is not ready after 15 s; see ${this.logFile}`);
  }

  /** SIGKILL: nothing is told, nothing is finished. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  /** SIGTERM: the drain. Its exit code. */
  async stop() {
    this.process.kill("SIGTERM");
    return (await this.exited).code;
  }

  async request(method, path, { body, key } = {}) {
    const headers = { authorization: `Bearer ${this.token}` };
    if (body) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    const answer = await fetch(this.url + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }

  /** As a careful client: the same request with the same key until it is answered. */
  async insist(method, path, options) {
    for (let i = 0; i < 200; ++i) {
      const answer = await this.request(method, path, options).catch(() => null);
      if (answer && answer.status < 500 && answer.status !== 409 && answer.status !== 429) {
        if (answer.status >= 300) {
          throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        }
        return answer.body;
      }
      await sleep(100);
    }
    throw new Error(`${method} ${path}: no answer`);
  }
}
