// What every fault of faults.mjs needs: a node that can be made bad, holdfast behind it, payments
// to settle, and the check that holds whatever happened: the truth was told, the customer was
// charged once and served at most once.
import { request } from "node:http";
import { account } from "../../../tools/scenes/anvil.mjs";
import { sleep } from "../../../tools/scenes/holdfast.mjs";
import { signPayment } from "../../../tools/scenes/x402/payment.mjs";
import {
  chainId, createHoldfast, ReferenceProcess, startWorld, transfers,
} from "../../../tools/scenes/x402/world.mjs";
import { FaultNode } from "./fault_node.mjs";

export const payTo = account(9).address;
const sender = account(1);
const hash = /^0x[0-9a-f]{64}$/;

export class Rig {
  wrong = [];
  nextAmount = 1_000_001n;

  constructor({ binary, folder, cleanUp }) {
    Object.assign(this, { binary, folder, cleanUp });
  }

  async start() {
    this.world = await startWorld({ owners: [account(4).address], amount: 1_000_000_000n });
    this.cleanUp.push(() => this.world.anvil.process.kill());
    this.node = await FaultNode.open(this.world.anvil.url);
    this.cleanUp.push(() => this.node.close());
    this.holdfast = this.binary === "--reference" ? await this.reference() : await this.ours();
    this.cleanUp.push(() => this.holdfast.process?.kill("SIGKILL"));
    await this.holdfast.start();
  }

  ours() {
    return createHoldfast({
      binary: this.binary, folder: this.folder, rpcUrl: this.node.url, token: this.world.token,
      accounts: [sender],
      engine: "stuck_after_ms = 3000\nretry_cap_ms = 2000",
      more: "rpc_deadline_ms = 2000",
    });
  }

  /** npm's facilitator in holdfast's place, to see what red looks like. It has no books. */
  async reference() {
    const one = await new ReferenceProcess({
      rpcUrl: this.node.url, folder: this.folder, index: 1,
    }).ready();
    one.facilitator = one.url;
    one.stop = async () => {
      await one.kill();
      return 0;
    };
    return one;
  }

  /** Asks anvil itself. */
  async anvil(method, ...params) {
    const answer = await fetch(this.world.anvil.url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** A payment of an amount no other one has. */
  async payment() {
    const amount = String(this.nextAmount++);
    const body = await signPayment({
      payer: account(4), chainId, asset: this.world.asset, payTo, amount,
    });
    return { amount, text: JSON.stringify(body), answers: [] };
  }

  /** POST /settle or another act; the answer, or { lost } where none came. */
  async ask(payment, { act = "settle", hangUpAfter } = {}) {
    const url = `${this.holdfast.facilitator}/${act}`;
    const began = Date.now();
    const answer = await new Promise((resolve) => {
      const headers = {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(payment.text),
        Authorization: `Bearer ${this.holdfast.token}`,
      };
      const asked = request(url, { method: "POST", headers }, (got) => {
        let text = "";
        got.on("data", (part) => (text += part));
        got.on("end", () => resolve({ status: got.statusCode, text }));
        got.on("error", (error) => resolve({ lost: error.message }));
      });
      asked.on("error", (error) => resolve({ lost: error.message }));
      asked.end(payment.text);
      if (hangUpAfter !== undefined) setTimeout(() => asked.destroy(), hangUpAfter);
    });
    answer.ms = Date.now() - began;
    if (answer.text !== undefined) answer.said = parsed(answer.text);
    if (act === "settle") payment.answers.push(answer);
    return answer;
  }

  /** As a shop and its customer do: asks until success is told or the answer is final. */
  async settle(payment, times = 40) {
    for (let i = 0; i < times; ++i) {
      const answer = await this.ask(payment);
      if (answer.said?.success === true || isFinal(answer)) return answer;
      await sleep(500);
    }
    return payment.answers.at(-1);
  }

  insist(holds, sentence) {
    if (!holds) this.wrong.push(`${this.current}: ${sentence}`);
    return holds;
  }

  /** Whatever happened: one success was told, one transfer made, by the transaction told. */
  async check(payment, { successes = 1, unanswered = false } = {}) {
    const told = payment.answers.filter(({ said }) => said?.success === true);
    const shown = payment.answers
      .map(({ status, said, lost }) => lost ?? `${status} ${said?.errorReason ?? "success"}`);
    this.insist(told.length === successes, `${told.length} successes told: ${shown.join("; ")}`);
    for (const { status, said, text, lost } of payment.answers) {
      if (lost !== undefined) continue;
      this.insist(typeof said?.transaction === "string" && typeof said?.network === "string",
        `an answer without transaction or network: ${status} ${text.slice(0, 200)}`);
      this.insist(status < 500 || (unanswered && status === 503), `an answer with ${status}`);
      if (said?.errorReason === "settlement_pending") {
        this.insist(hash.test(said.transaction), "pending without a hash");
      }
    }
    const moved = (await transfers(this.world))
      .filter(({ value }) => value === BigInt(payment.amount));
    this.insist(moved.length === 1, `the customer was charged ${moved.length} times`);
    for (const { said } of told) {
      this.insist(said.transaction === moved[0]?.hash, "another transaction was told");
    }
    const [first] = told;
    if (!first) return;
    const again = await this.ask(payment);
    this.insist(again.said?.success === false &&
      again.said.errorReason === "invalid_exact_evm_nonce_already_used" &&
      again.said.transaction === first.said.transaction,
    `asked once more it said ${again.status} ${again.text?.slice(0, 200)}`);
  }

  /** At the end: the books say settled for everything, and no transaction of ours reverted. */
  async checkAll(count) {
    this.current = "at the end";
    let open = [];
    for (let i = 0; i < 200 && this.holdfast.insist; ++i) {
      const page = await this.holdfast.insist("GET", "/v1/payment_intents?limit=500");
      open = page.payment_intents.filter(({ state }) => state !== "settled");
      if (page.payment_intents.length === count && open.length === 0) break;
      await sleep(100);
    }
    this.insist(open.length === 0,
      `not settled: ${open.map(({ id, state }) => `${id} ${state}`).join(", ")}`);
    const newest = Number(await this.anvil("eth_blockNumber"));
    let sent = 0;
    for (let height = 0; height <= newest; ++height) {
      const receipts = await this.anvil("eth_getBlockReceipts", `0x${height.toString(16)}`);
      for (const { from, status, transactionHash } of receipts) {
        if (from !== sender.address.toLowerCase()) continue;
        sent += 1;
        this.insist(status === "0x1", `our transaction ${transactionHash} reverted`);
      }
    }
    this.insist(sent === count, `${sent} transactions of ours for ${count} payments`);
  }
}

/** A refusal that no repetition changes; that a network cannot be settled on now is none. */
const isFinal = ({ status, said }) => status === 200 && said?.success === false &&
  /^(invalid_exact_evm|permit2|unsupported|invalid_payment)/
    .test(said.errorReason);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
