// Signs a created payment's typed data as the sandbox's payer; see tools/sandbox.
import { readFileSync } from "node:fs";
import { account } from "./anvil.mjs";

const [file] = process.argv.slice(2);
const shown = file === "-" ? "standard input" : file;
const payer = account(8);

function fail(sentence) {
  console.error(`sandbox: ${sentence}`);
  process.exit(1);
}

function read() {
  let text;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    fail(`cannot read ${shown}: ${error.code === "ENOENT" ? "there is no such file" : error.code}`);
  }
  try {
    const parsed = JSON.parse(text);
    if (parsed !== null && typeof parsed === "object") return parsed;
  } catch {
    // The sentence below is for both.
  }
  return fail(`${shown} is not the JSON of a created payment`);
}

function typedData(created) {
  if (created.error) fail(`${shown} holds a refusal, not a payment: ${created.detail}`);
  if (created.method === "payout") fail(`${shown} is a payout, which no payer signs`);
  const data = created.typed_data;
  if (!data?.types || !data.domain || !data.message) {
    fail(`${shown} has no typed_data; the answer to POST /v1/payment_intents has it`);
  }
  if (data.message.from?.toLowerCase() !== payer.address.toLowerCase()) {
    fail(`the payer in ${shown} is ${data.message.from}; the sandbox signs for ${payer.address}`);
  }
  return data;
}

const { types, domain, primaryType, message } = typedData(read());
const { EIP712Domain: _, ...structs } = types;
try {
  console.log(await payer.signTypedData({ types: structs, domain, primaryType, message }));
} catch (error) {
  fail(`the typed_data in ${shown} cannot be signed: ${error.message.split("\n")[0]}`);
}
