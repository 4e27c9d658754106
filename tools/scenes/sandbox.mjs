// The sandbox; see tools/sandbox.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { account, deployToken, startAnvil } from "./anvil.mjs";
import { Holdfast } from "./holdfast.mjs";

const [binary, folder] = process.argv.slice(2);
const payer = account(8);
const payee = account(9).address;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

let anvil, holdfast, token;
try {
  anvil = await startAnvil();
  const sender = account(1);
  ({ token } = await deployToken(anvil.url, [payer.address, sender.address], 1_000_000_000n));
  holdfast = await Holdfast.create({
    binary, folder, rpcUrl: anvil.url, token, accounts: [sender],
    sections: "[x402]\nenabled = true", scopes: ["pay", "payout", "ops", "x402"],
  });
  await holdfast.start();
} catch (error) {
  console.error(`sandbox: ${error.message}`);
  holdfast?.process?.kill("SIGKILL");
  anvil?.process.kill();
  process.exit(1);
}
const env = join(folder, "env");
writeFileSync(
  env,
  `export HOLDFAST_URL=${holdfast.url}
export HOLDFAST_TOKEN=${holdfast.token}
export ASSET=${token}
export PAYER=${payer.address}
export PAYEE=${payee}
`,
  { mode: 0o600 },
);
console.log(`holdfast  ${holdfast.url}
node      ${anvil.url}
asset     ${token}  (a token of 6 decimals)
payer     ${payer.address}  (has 1000000000 base units of it)
payee     ${payee}

In another terminal:  . build/sandbox/env
and go on with "A first payment by hand" in README.md. Ctrl-C ends everything.`);

let ending = false;
async function end() {
  if (ending) return;
  ending = true;
  const code = await holdfast.stop();
  anvil.process.kill();
  process.exit(code ?? 1);
}
process.on("SIGINT", end);
process.on("SIGTERM", end);
holdfast.exited.then(end);
