// Signs a created payment's typed data as the sandbox's payer; see tools/sandbox.
import { readFileSync } from "node:fs";
import { account } from "./anvil.mjs";

const [file] = process.argv.slice(2);
const created = JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"));
const { types, domain, primaryType, message } = created.typed_data;
const { EIP712Domain: _, ...structs } = types;
console.log(await account(8).signTypedData({ types: structs, domain, primaryType, message }));
