// Compiles HoldfastToken.sol with the pinned solc into HoldfastToken.json, which is committed so
// that nobody needs a compiler to run the demo or the tests.
//
//   node tools/contracts/compile.mjs            writes the artifact
//   node tools/contracts/compile.mjs --check    fails when the committed artifact is another

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { compile } from "./compiler.mjs";

const target = new URL("./HoldfastToken.json", import.meta.url);

/** One line for each entry of the ABI, so that a change shows as the lines that changed. */
function text({ abi, ...rest }) {
  const entries = abi.map((entry) => `    ${JSON.stringify(entry)}`).join(",\n");
  const members = Object.entries(rest).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${members.join(",\n")},\n  "abi": [\n${entries}\n  ]\n}\n`;
}

const artifact = compile("HoldfastToken");
const made = text(artifact);
if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== made) {
    console.error("compile: HoldfastToken.json is not what HoldfastToken.sol compiles to; run me");
    process.exit(1);
  }
  console.log("compile: HoldfastToken.json is what HoldfastToken.sol compiles to");
} else {
  writeFileSync(target, made);
  console.log(`compile: wrote HoldfastToken.json (${(artifact.bytecode.length - 2) / 2} bytes)`);
}
