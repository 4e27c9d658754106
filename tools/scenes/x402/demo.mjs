// The x402 demo's scene; see tools/x402-demo.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { account } from "../anvil.mjs";
import { sleep } from "../holdfast.mjs";
import { buyer } from "./buyer.mjs";
import { openShop, priceOf } from "./shop.mjs";
import {
  createHoldfast, network, networkV1, ReferenceProcess, startWorld, transfers,
} from "./world.mjs";

const [binary, ...options] = process.argv.slice(2);
const count = 10;
const dies = 5;  // during this purchase
const payTo = account(9).address;
const asJson = options.includes("--json");

const began = Date.now();
const seconds = () => ((Date.now() - began) / 1000).toFixed(1).padStart(5);
const say = (text = "") => (asJson ? console.error : console.log)(text);
const tell = (text) => say(`${seconds()} s  ${text}`);

/** Holdfast, or npm's reference in its place: { url, key, start, kill }. */
async function facilitatorFor(world, folder) {
  const rpcUrl = world.anvil.url;
  if (options.includes("--reference")) return new ReferenceProcess({ rpcUrl, folder }).ready();
  const holdfast = await createHoldfast({
    binary, folder, rpcUrl, token: world.token, accounts: [account(1)],
  });
  return {
    name: "holdfast",
    keeps: ", on the same store",
    url: holdfast.facilitator,
    key: holdfast.token,
    start: () => holdfast.start(),
    kill: async () => {
      if (holdfast.process) await holdfast.kill();
    },
  };
}

/**
 * One purchase by a careful customer: told no, the same signature is presented again, for it may
 * have been used already; a new one is signed only when the shop is through with the first.
 */
async function buyOne(customer, shop, id) {
  const url = `${shop.url}/eip3009/${id}`;
  const one = { id, price: priceOf(id), tries: 1 };
  let answer = await customer.buy(url);
  const paid = customer.payments.at(-1);
  while (answer.status !== 200 && one.tries < 12) {
    tell(`purchase ${id}: told ${answer.status}, ${answer.reason}; presents the same payment`);
    await sleep(1000);
    one.tries += 1;
    answer = await customer.present(url, paid);
  }
  one.status = answer.status;
  one.told = answer.settled?.transaction ?? "";
  return one;
}

/** SIGKILL as soon as the chain's pool or a block holds the transaction of this purchase. */
async function killInTheMiddle(world, facilitator) {
  const before = await world.client.getTransactionCount({ address: facilitatorAccount() });
  for (let i = 0; i < 400; ++i) {
    const now = await world.client.getTransactionCount({
      address: facilitatorAccount(), blockTag: "pending",
    });
    if (now > before) break;
    await sleep(10);
  }
  // Told first: what the kill does to the shop's request is told as soon as it is noticed.
  tell(`SIGKILL to ${facilitator.name}: its transaction is out, nobody was answered yet`);
  await facilitator.kill();
  await sleep(500);
  await facilitator.start();
  tell(`${facilitator.name} runs again${facilitator.keeps}`);
}
const facilitatorAccount = () => account(options.includes("--reference") ? 2 : 1).address;

async function scene(folder, cleanUp) {
  tell("starting anvil (1 s blocks) and deploying the token");
  const world = await startWorld({ owners: [account(4).address], amount: 1_000_000_000n });
  cleanUp.push(() => world.anvil.process.kill());
  const facilitator = await facilitatorFor(world, folder);
  cleanUp.push(() => facilitator.kill());
  await facilitator.start();
  tell(`${facilitator.name} is ready; opening the shop`);
  const shop = await openShop({
    facilitator: facilitator.url, key: facilitator.key, network, networkV1, payTo,
    asset: world.asset,
  });
  cleanUp.push(shop.close);

  const customer = buyer(account(4), { network, networkV1 });
  const bought = [];
  for (let id = 1; id <= count; ++id) {
    const killing = id === dies ? killInTheMiddle(world, facilitator) : null;
    bought.push(await buyOne(customer, shop, String(id)));
    await killing;
    tell(`purchase ${id}: ${bought.at(-1).status === 200 ? "received" : "NOT received"}`);
  }
  await sleep(2500);  // what is still under way is in a block then
  const moved = await transfers(world);
  for (const one of bought) {
    const own = moved.filter(({ to, value }) => to === payTo && value === BigInt(one.price));
    one.paid = own.length;
    one.received = shop.given.get(one.id) ?? 0;
    one.transaction = own[0]?.hash ?? "";
  }
  return { bought, others: moved.length - bought.reduce((all, one) => all + one.paid, 0) };
}

function table(bought) {
  const total = (member) => bought.reduce((all, one) => all + one[member], 0);
  const amount = (times, price) => (Number(price) * times / 1e6).toFixed(6);
  const spent = bought.reduce((all, one) => all + Number(one.price) * one.paid, 0);
  const lines = [
    ["purchase", "price", "paid", "received", "asked", "transaction"],
    ...bought.map((one) => [
      one.id, amount(1, one.price), `${one.paid} x`, `${one.received} x`, `${one.tries} x`,
      one.transaction + (one.paid === one.received ? "" : "  WRONG"),
    ]),
    ["total", amount(1, spent), `${total("paid")} x`, `${total("received")} x`,
      `${total("tries")} x`, ""],
  ];
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => "  " + line
    .map((cell, at) => at === 5 ? cell : cell.padStart(widths[at])).join("  ").trimEnd())
    .join("\n");
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-x402-demo-"));
const cleanUp = [];
let result = null;
try {
  result = await scene(folder, cleanUp);
} catch (error) {
  console.error(`x402-demo: ${error.message}`);
}
for (const step of cleanUp.reverse()) await step();
const good = result !== null && result.others === 0 &&
  result.bought.every(({ paid, received }) => paid === 1 && received === 1);
if (result) {
  say();
  say(table(result.bought));
  say();
}
if (asJson && result) {
  const sum = (member) => result.bought.reduce((all, one) => all + one[member], 0);
  console.log(JSON.stringify({
    good, purchases: result.bought, paid: sum("paid"), received: sum("received"),
  }));
}
if (good && !options.includes("--keep")) rmSync(folder, { recursive: true });
else say(`  store, log and configuration are in ${folder}`);
say(good
  ? "  Every purchase was paid once and received once."
  : "  Paid is not received, or nothing was bought; see above.");
process.exit(good ? 0 : 1);
