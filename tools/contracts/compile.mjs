// Compiles our contracts with the pinned solc into a JSON file each, which are committed so that
// nobody needs a compiler to run the demo or the tests.
//
//   node tools/contracts/compile.mjs            writes the artifacts
//   node tools/contracts/compile.mjs --check    fails when a committed artifact is another

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { compile } from "./compiler.mjs";

const contracts = [
  "HoldfastToken", "TestDelegate", "TestExactProxy", "TestMulticall3", "TestPermit2", "TestWallet",
  "TestWalletFactory",
];

/** One line for each entry of the ABI, so that a change shows as the lines that changed. */
function text({ abi, ...rest }) {
  const entries = abi.map((entry) => `    ${JSON.stringify(entry)}`).join(",\n");
  const members = Object.entries(rest).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${members.join(",\n")},\n  "abi": [\n${entries}\n  ]\n}\n`;
}

for (const name of contracts) {
  const target = new URL(`./${name}.json`, import.meta.url);
  const artifact = compile(name);
  const made = text(artifact);
  if (!process.argv.includes("--check")) {
    writeFileSync(target, made);
    console.log(`compile: wrote ${name}.json (${(artifact.bytecode.length - 2) / 2} bytes)`);
  } else if (!existsSync(target) || readFileSync(target, "utf8") !== made) {
    console.error(`compile: ${name}.json is not what ${name}.sol compiles to; run me`);
    process.exit(1);
  } else {
    console.log(`compile: ${name}.json is what ${name}.sol compiles to`);
  }
}
