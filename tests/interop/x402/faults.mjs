// What must end well between the customer, holdfast and a bad node: one entry a fault. Each
// settles a payment of its own through it, and fault_rig.mjs checks what holds for all.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { sleep } from "../../../tools/scenes/holdfast.mjs";

const send = "eth_sendRawTransaction";

/** The fault on the next transaction that is sent, then the payment settled as ever. */
const onSend = (verb, more) => async (rig) => {
  const payment = await rig.payment();
  rig.node.fail(send, verb, more);
  await rig.settle(payment);
  rig.insist(rig.node.met(send), "the fault was never met");
  rig.node.heal();
  await rig.check(payment);
};

const someReceipts = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];

/** Receipts are answered so for some seconds after the payment was sent. */
const onReceipts = (fault) => async (rig) => {
  const payment = await rig.payment();
  for (const method of someReceipts) {
    rig.node.fail(method, fault.verb, { ...fault, times: Infinity });
  }
  const settled = rig.settle(payment);
  await sleep(6000);
  rig.node.heal();
  await settled;
  await rig.check(payment);
};

/** No block is made until `act` is done with the transaction in the pool. */
const inThePool = (act) => async (rig) => {
  const payment = await rig.payment();
  await rig.anvil("evm_setIntervalMining", 0);
  const sent = rig.node.sent.length;
  const settled = rig.settle(payment);
  for (let i = 0; i < 200 && rig.node.sent.length === sent; ++i) await sleep(20);
  await sleep(200);
  await act(rig);
  await rig.anvil("evm_setIntervalMining", 1);
  await settled;
  await rig.check(payment);
};

/** SIGKILL while the transaction is held, then a new start and the customer once more. */
const killed = (verb) => async (rig) => {
  const payment = await rig.payment();
  rig.node.fail(send, verb);
  const sent = rig.node.sent.length;
  const asked = rig.ask(payment);
  for (let i = 0; i < 200 && rig.node.sent.length === sent; ++i) await sleep(20);
  await rig.holdfast.kill();
  rig.node.heal();
  await asked;
  await rig.holdfast.start();
  await rig.settle(payment);
  await rig.check(payment);
};

export const faults = {
  "the answer to the post comes after 60 s": onSend("delay", { ms: 60_000 }),
  "the answer to the post is dropped once": onSend("cut"),
  "the answer to the post is dropped always": onSend("cut", { times: Infinity }),
  "the post never arrives, once": onSend("swallow"),
  "the post arrives twice": onSend("twice"),
  "502, though the node took it": onSend("status", { code: 502 }),
  "502, and the node has it not": onSend("refuse", { code: 502 }),
  "-32603, though the node took it": onSend("error", {
    forward: true, error: { code: -32603, message: "Internal error" },
  }),
  "-32603, and the node has it not": onSend("error", {
    forward: false, error: { code: -32603, message: "Internal error" },
  }),
  "already known": onSend("error", {
    forward: true, error: { code: -32000, message: "already known" },
  }),

  "receipts are late": onReceipts({ verb: "result", result: null }),
  "receipts cannot be read": onReceipts({ verb: "result", result: "nonsense" }),
  "the node's mempool is lost": inThePool((rig) => rig.anvil("anvil_dropAllTransactions")),
  "the base fee jumps to 50 gwei": inThePool((rig) =>
    rig.anvil("anvil_setNextBlockBaseFeePerGas", `0x${(50_000_000_000).toString(16)}`)),

  async "a reorg after the success"(rig) {
    const payment = await rig.payment();
    await rig.settle(payment);
    await rig.anvil("anvil_reorg", 1, []);
    await sleep(6000);
    await rig.check(payment);
  },

  async "the caller hangs up"(rig) {
    const payment = await rig.payment();
    await rig.ask(payment, { hangUpAfter: 150 });
    await sleep(3000);
    await rig.settle(payment);
    await rig.check(payment);
  },

  "SIGKILL before the post": killed("hold"),
  "SIGKILL after the post": killed("hold_answer"),

  async "50 identical settles at once"(rig) {
    const payment = await rig.payment();
    await Promise.all(Array.from({ length: 50 }, () => rig.ask(payment)));
    const told = payment.answers.find(({ said }) => said?.success === true);
    for (const { said } of payment.answers) {
      rig.insist(said?.transaction === told?.said.transaction, "a refusal without the hash");
    }
    await rig.check(payment);
  },

  async "verify and settle agree while a payment is under way"(rig) {
    const payment = await rig.payment();
    await rig.ask(payment, { hangUpAfter: 300 });
    await sleep(3000);
    const before = await rig.ask(payment, { act: "verify" });
    rig.insist(before.said?.isValid === true, `nobody was told yet, but: ${before.text}`);
    await rig.settle(payment);
    const after = await rig.ask(payment, { act: "verify" });
    rig.insist(after.said?.isValid === false, `it was told, but: ${after.text}`);
    await rig.check(payment);
  },

  async "the node is down for a second, warm"(rig) {
    const payment = await rig.payment();
    rig.node.down = true;
    const settled = rig.settle(payment);
    await sleep(1000);
    rig.node.heal();
    await settled;
    await rig.check(payment, { unanswered: true });
  },

  async "the node is down for a second, cold"(rig) {
    const payment = await rig.payment();
    await rig.holdfast.stop();
    await rig.holdfast.start();
    rig.node.down = true;
    const settled = rig.settle(payment);
    await sleep(1000);
    rig.node.heal();
    await settled;
    await rig.check(payment, { unanswered: true });
  },

  async "a second instance on the same store"(rig) {
    const payment = await rig.payment();
    const second = spawn(rig.binary, ["serve", "--config", rig.holdfast.config],
      { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    second.stdout.on("data", (part) => (said += part));
    second.stderr.on("data", (part) => (said += part));
    const [code] = await once(second, "exit");
    rig.insist(code !== 0 && code !== null, `the second one ended with ${code}`);
    rig.insist(/another|already|in use|lock/i.test(said), `it said: ${said.slice(-300)}`);
    await rig.settle(payment);
    await rig.check(payment);
  },
};
