// Owns: how our Solidity is compiled.

import { readFileSync } from "node:fs";
import solc from "solc";

// Paris: runs on every EVM chain since the merge. No metadata hash: the same source gives the same
// bytes, whatever folder it is compiled in.
const settings = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
};

const source = (file) => readFileSync(new URL(file, import.meta.url), "utf8");

/**
 * Compiles the contract `name` of `<name>.sol` beside this file; a warning is an error. `runtime`
 * is what stands at its address in the end, but for what its constructor fills in.
 */
export function compile(name) {
  const file = `${name}.sol`;
  const input = {
    language: "Solidity",
    sources: { [file]: { content: source(file) } },
    settings: {
      ...settings,
      outputSelection: {
        "*": { [name]: ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] },
      },
    },
  };
  const imports = { import: (path) => ({ contents: source(path) }) };
  const output = JSON.parse(solc.compile(JSON.stringify(input), imports));
  const messages = output.errors ?? [];
  if (messages.length > 0) throw new Error(messages.map((one) => one.formattedMessage).join("\n"));
  const made = output.contracts[file][name];
  return {
    contract: name,
    solc: solc.version(),
    settings,
    bytecode: "0x" + made.evm.bytecode.object,
    runtime: "0x" + made.evm.deployedBytecode.object,
    abi: made.abi,
  };
}
