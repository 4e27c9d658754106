// A signed x402 payment on the sandbox; see tools/sandbox.
import { readFileSync } from "node:fs";
import process from "node:process";
import { account, chain, tokenName, tokenVersion } from "../anvil.mjs";
import { signPayment } from "./payment.mjs";

const [envFile, amount] = process.argv.slice(2);

function fail(sentence) {
  console.error(`sandbox: ${sentence}`);
  process.exit(1);
}

/** What the sandbox that started last exports. */
function environment() {
  try {
    const lines = readFileSync(envFile, "utf8").matchAll(/^export (\w+)=(.*)$/gm);
    return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
  } catch {
    return fail("no sandbox was started yet: build/sandbox/env is not there");
  }
}

const largest = 2n ** 256n;
if (!/^[1-9][0-9]{0,77}$/.test(amount) || BigInt(amount) >= largest) {
  fail("the amount is a whole number of base units, from 1: 1000000 is 1.0 of the sandbox's token");
}
const { ASSET, PAYEE } = environment();
console.log(JSON.stringify(await signPayment({
  payer: account(8),
  chainId: chain.id,
  asset: { address: ASSET, name: tokenName, version: tokenVersion },
  payTo: PAYEE,
  amount,
})));
