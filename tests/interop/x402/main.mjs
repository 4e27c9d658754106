// The real clients of x402 buy through holdfast on a real node; see run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { account, tokenName } from "../../../tools/scenes/anvil.mjs";
import { people, startBalance } from "../../../tools/scenes/x402/people.mjs";
import { openShop } from "../../../tools/scenes/x402/shop.mjs";
import {
  createHoldfast, network, networkV1, startReference, startWorld,
} from "../../../tools/scenes/x402/world.mjs";
import { purchases, wrongInBooks, wrongOnChain, wrongWithAnswer } from "./scene.mjs";

const [binary] = process.argv.slice(2);
const payTo = account(9).address;
const cleanUp = [];
const folder = mkdtempSync(join(tmpdir(), "holdfast-x402-"));

/** What settles: { url, key, holdfast? }. */
async function startFacilitator(world) {
  const rpcUrl = world.anvil.url;
  if (binary === "--reference") {
    const reference = await startReference({ rpcUrl, folder });
    cleanUp.push(() => reference.process.kill());
    return reference;
  }
  const holdfast = await createHoldfast({
    binary, folder, rpcUrl, token: world.token, accounts: [account(1)],
  });
  cleanUp.push(() => holdfast.process?.kill("SIGKILL"));
  await holdfast.start();
  return { url: holdfast.facilitator, key: holdfast.token, holdfast };
}

async function scene() {
  const world = await startWorld({
    owners: [account(4).address, account(5).address], amount: startBalance,
  });
  cleanUp.push(() => world.anvil.process.kill());
  const facilitator = await startFacilitator(world);
  const shop = await openShop({
    facilitator: facilitator.url, key: facilitator.key, network, networkV1, payTo,
    asset: world.asset,
  });
  cleanUp.push(shop.close);

  const customers = await people(world);
  const rows = purchases();
  const wrong = [];
  for (const row of rows) {
    const customer = customers[row.who];
    row.payer = customer.address;
    const answer = await customer.buy(`${shop.url}/${row.route}/${row.id}`);
    row.hash = answer.settled?.transaction;
    const bad = wrongWithAnswer(row, answer, row.payer);
    const times = shop.given.get(row.id) ?? 0;
    if (times !== 1) bad.push(`${row.what}: the thing went out ${times} times`);
    console.log(`${bad.length === 0 ? "bought" : "WRONG "}  ${row.what}  ${row.hash ?? ""}`);
    wrong.push(...bad);
  }
  wrong.push(...await wrongOnChain(world, rows, payTo));
  if (facilitator.holdfast) {
    wrong.push(...await wrongInBooks(facilitator.holdfast, rows));
    const code = await facilitator.holdfast.stop();
    if (code !== 0) wrong.push(`holdfast's drain ended with ${code}`);
  }
  return { wrong, bought: rows.length };
}

let good = false;
try {
  const { wrong, bought } = await scene();
  for (const sentence of wrong) console.log(`wrong: ${sentence}`);
  good = wrong.length === 0;
  console.log(good
    ? `${bought} purchases in ${tokenName}: each bought, given out and charged exactly once`
    : `${wrong.length} things are wrong; log and store are in ${folder}`);
} catch (error) {
  console.log(`x402: ${error.stack}; log and store are in ${folder}`);
}
for (const step of cleanUp.reverse()) step();
if (good) rmSync(folder, { recursive: true });
process.exit(good ? 0 : 1);
