// Makes tests/vectors/evm.json: what viem and ethers say about keys, transactions, typed data and
// calls. Where both can say it, they must agree, or nothing is written.
//
//   node tools/vectors/generate.mjs            writes the file
//   node tools/vectors/generate.mjs --check    fails when the committed file is another

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as basics from "./basics.mjs";
import * as contracts from "./contracts.mjs";
import { Random } from "./random.mjs";
import * as transactions from "./transactions.mjs";

const seed = "holdfast evm vectors 1";
const target = fileURLToPath(new URL("../../tests/vectors/evm.json", import.meta.url));

// Each section has its own stream of chance: a new one leaves the others as they are.
const sections = {
  keys: basics.keys,
  addresses: basics.addresses,
  keccak: basics.keccak,
  rlp: basics.rlp,
  recovered: basics.recovered,
  transactions: transactions.transactions,
  authorizations: contracts.authorizations,
  cancellations: contracts.cancellations,
  transfers: contracts.transfers,
  views: contracts.views,
  answers: contracts.answers,
  logs: contracts.logs,
  reverts: contracts.reverts,
  bad_addresses: basics.badAddresses,
  bad_rlp: basics.badRlp,
  bad_signatures: basics.badSignatures,
  bad_transactions: transactions.badTransactions,
};

/** One vector a line, so that a change shows as the lines that changed. */
function text(all) {
  const section = ([name, value]) => {
    if (!Array.isArray(value)) return `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return `${JSON.stringify(name)}: [\n${value.map((one) => JSON.stringify(one)).join(",\n")}\n]`;
  };
  return `{\n${Object.entries(all).map(section).join(",\n")}\n}\n`;
}

const pinned = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const { viem, ethers } = pinned.dependencies;
const all = { seed, made_by: `viem ${viem} and ethers ${ethers}` };
let count = 0;
for (const [name, make] of Object.entries(sections)) {
  all[name] = await make(new Random(`${seed}/${name}`));
  count += Array.isArray(all[name]) ? all[name].length : 1;
}

const made = text(all);
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== made) {
    console.error("vectors: tests/vectors/evm.json is not what generate.mjs makes; run it");
    process.exit(1);
  }
  console.log(`vectors: tests/vectors/evm.json is up to date (${count} vectors)`);
} else {
  writeFileSync(target, made);
  console.log(`vectors: wrote ${count} vectors, ${made.length} bytes`);
}
