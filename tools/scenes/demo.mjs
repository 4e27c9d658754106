// The demo's scene; see tools/demo.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as viem from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { account, artifact, deployToken, startAnvil } from "./anvil.mjs";
import { Holdfast, sleep } from "./holdfast.mjs";

const [binary, ...options] = process.argv.slice(2);
const authorizedCount = 200;
const payoutCount = 50;
const payerCount = 20;
const startBalance = 10_000_000_000n;
const newAccount = () => privateKeyToAccount(generatePrivateKey());
const merchants = Array.from({ length: 5 }, () => newAccount().address);
const payers = Array.from({ length: payerCount }, newAccount);
const relayers = [1, 2, 3, 4].map(account);

const began = Date.now();
const seconds = () => ((Date.now() - began) / 1000).toFixed(1).padStart(5);
const say = (text) => console.log(`${seconds()} s  ${text}`);

/** Runs `work` over `items`, `width` at a time. */
async function each(items, width, work) {
  const rest = [...items];
  const lane = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

function plan(token) {
  const asked = [];
  for (let i = 0; i < authorizedCount + payoutCount; ++i) {
    const payout = i % 5 === 4;
    asked.push({
      key: `demo-${i}`,
      payer: payout ? undefined : payers[i % payerCount],
      body: {
        chain: "eip155:31337",
        method: payout ? "payout" : "transfer_authorization",
        asset: token,
        payee: merchants[i % merchants.length],
        amount: String(1_000_000 + i),
        ...(payout ? {} : { payer: payers[i % payerCount].address }),
      },
    });
  }
  return asked;
}

async function ask(holdfast, one) {
  const created = await holdfast.insist("POST", "/v1/payment_intents", {
    body: one.body,
    key: one.key,
  });
  one.id = created.id;
  one.ref = created.ref;
  one.from = created.payer;
  if (!one.payer) return;
  const { types, domain, primaryType, message } = created.typed_data;
  const { EIP712Domain: _, ...structs } = types;
  const signature = await one.payer.signTypedData({ types: structs, domain, primaryType, message });
  await holdfast.insist("POST", `/v1/payment_intents/${one.id}/authorize`, {
    body: { signature },
    key: `${one.key}-sign`,
  });
}

async function counts(holdfast) {
  const out = {};
  let cursor = "";
  do {
    const page = await holdfast.insist("GET", `/v1/payment_intents?limit=500${cursor}`);
    for (const intent of page.payment_intents) out[intent.state] = (out[intent.state] ?? 0) + 1;
    cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : "";
  } while (cursor);
  return out;
}

/** Reads the chain alone: how often each asked payment moved, and what everybody now has. */
async function checkChain({ client, token, fromBlock }, asked) {
  const transfers = await client.getContractEvents({
    address: token, abi: artifact.abi, eventName: "Transfer", fromBlock,
  });
  const uses = await client.getContractEvents({
    address: token, abi: artifact.abi, eventName: "AuthorizationUsed", fromBlock,
  });
  const moved = new Map();  // ref → transfers that carry it
  const note = (ref, transfer) => moved.set(ref, [...(moved.get(ref) ?? []), transfer]);
  const byTx = new Map(uses.map((use) => [use.transactionHash, use.args.nonce]));
  for (const transfer of transfers) {
    const { from, to, value } = transfer.args;
    if (from === viem.zeroAddress) continue;  // minted
    const nonce = byTx.get(transfer.transactionHash);
    const ref = nonce ?? `0x${(await client.getTransaction({
      hash: transfer.transactionHash })).input.slice(-64)}`;
    note(ref, { from, to, value });
  }
  const wrong = [];
  const expected = new Map();  // address → change
  const change = (who, by) => expected.set(who, (expected.get(who) ?? 0n) + by);
  for (const one of asked) {
    const found = moved.get(one.ref) ?? [];
    const exact = found.length === 1 && found[0].from === one.from &&
      found[0].to === one.body.payee && found[0].value === BigInt(one.body.amount);
    if (!exact) wrong.push(`${one.id} moved ${found.length} times, or otherwise than asked`);
    change(one.from, -BigInt(one.body.amount));
    change(one.body.payee, BigInt(one.body.amount));
    moved.delete(one.ref);
  }
  for (const ref of moved.keys()) wrong.push(`tokens moved for ${ref}, which nobody asked`);
  for (const [who, by] of expected) {
    const start = merchants.includes(who) ? 0n : startBalance;
    const has = await client.readContract({
      address: token, abi: artifact.abi, functionName: "balanceOf", args: [who],
    });
    if (has !== start + by) wrong.push(`${who} has ${has}, and should have ${start + by}`);
  }
  return wrong;
}

/** Until all are settled; a progress line while it works. */
async function waitForAll(holdfast, all) {
  for (let i = 0; i < 1200; ++i) {
    const now = await counts(holdfast);
    const line = ["created", "authorized", "settling", "confirming", "settled", "failed",
      "needs_review"].map((state) => `${state} ${String(now[state] ?? 0).padStart(3)}`).join("  ");
    if (process.stdout.isTTY) process.stdout.write(`\r${seconds()} s  ${line}  `);
    else if (i % 20 === 0) say(line);
    if (now.settled === all) {
      if (process.stdout.isTTY) process.stdout.write("\n");
      else say(line);
      return now;
    }
    await sleep(100);
  }
  throw new Error("not all payments settled in two minutes");
}

async function scene(folder, cleanUp) {
  say("starting anvil (1 s blocks) and deploying the token");
  const anvil = await startAnvil();
  cleanUp.push(() => anvil.process.kill());
  const owners = [...payers, ...relayers].map((one) => one.address);
  const world = await deployToken(anvil.url, owners, startBalance);

  say("starting holdfast");
  const holdfast = await Holdfast.create({
    binary, folder, rpcUrl: anvil.url, token: world.token, accounts: relayers,
  });
  cleanUp.push(() => holdfast.process?.kill("SIGKILL"));
  await holdfast.start();

  const asked = plan(world.token);
  say(`asking for ${authorizedCount} authorised payments and ${payoutCount} payouts over HTTP`);
  const asking = each(asked, 25, (one) => ask(holdfast, one));
  let inFlight = {};
  while (!((inFlight.confirming ?? 0) + (inFlight.settling ?? 0) >= 30)) {
    await sleep(50);
    inFlight = await counts(holdfast);
  }
  say(`SIGKILL with ${inFlight.settling ?? 0} settling and ${inFlight.confirming ?? 0} confirming`);
  await holdfast.kill();
  await holdfast.start();
  say("started again on the same store");
  await asking;
  const ended = await waitForAll(holdfast, asked.length);

  say("checking the chain, without the engine");
  const wrong = await checkChain(world, asked);
  for (const sentence of wrong.slice(0, 10)) console.log(`         ${sentence}`);
  const ledger = await holdfast.verb("ledger", "verify", "--config", holdfast.config);
  const audit = await holdfast.verb("audit", "--chain", "--config", holdfast.config);
  const exit = await holdfast.stop();
  const rows = [
    ["payments asked for",
      `${asked.length}  (${authorizedCount} authorised, ${payoutCount} payouts)`],
    ["settled", `${ended.settled}`],
    ["moved exactly once on chain", `${asked.length - wrong.length}`],
    ["ledger verify", ledger],
    ["audit --chain", audit],
    ["drain on SIGTERM", `exit code ${exit}`],
    ["time", `${seconds().trim()} s`],
  ];
  console.log();
  for (const [what, value] of rows) console.log(`  ${what.padEnd(28)} ${value}`);
  console.log();
  return wrong.length === 0 && exit === 0;
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
const keep = options.includes("--keep");
const cleanUp = [];
let good = false;
try {
  good = await scene(folder, cleanUp);
} catch (error) {
  console.error(`demo: ${error.message}`);
}
for (const step of cleanUp.reverse()) step();
if (good && !keep) rmSync(folder, { recursive: true });
else console.log(`  store, log and configuration are in ${folder}`);
console.log(good
  ? "  Every payment moved exactly once. Next: README.md, \"A first payment by hand\"."
  : "  The demo found something wrong; see above.");
process.exit(good ? 0 : 1);
