// anvil as Base Sepolia (version 1 knows networks by name only), the token on it, and what an
// x402 scene asks of the chain. Reads the chain directly, never through a facilitator.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { PERMIT2_ADDRESS, x402ExactPermit2ProxyAddress } from "@x402/evm";
import * as viem from "viem";
import {
  account, artifact, chainOf, deployToken, startAnvil, tokenName, tokenVersion,
} from "../anvil.mjs";
import { freePort, Holdfast } from "../holdfast.mjs";

export const chainId = 84532;
export const network = `eip155:${chainId}`;
export const networkV1 = "base-sepolia";
export const chain = chainOf(chainId);
export const permit2 = PERMIT2_ADDRESS;
const multicall3 = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** Token and contracts in place; `owners` have `amount` of it each. Answers
 * { anvil, client, token, asset, fromBlock }. */
export async function startWorld({ owners, amount, anvilOptions = [] }) {
  const anvil = await startAnvil(["--chain-id", String(chainId), ...anvilOptions]);
  try {
    const world = await deployToken(anvil.url, owners, amount, chain);
    const asset = { address: world.token, name: tokenName, version: tokenVersion };
    await placeContracts({ anvil });
    return { anvil, asset, ...world };
  } catch (error) {
    anvil.process.kill();
    throw error;
  }
}

const contract = (name) => JSON.parse(
  readFileSync(new URL(`../../contracts/${name}.json`, import.meta.url), "utf8"),
);

/**
 * What every public chain has at its published address, as our test contracts: Permit2, the x402
 * proxy for exact payments over it, and Multicall3, by which npm's facilitator finds out why a call
 * is refused.
 */
export async function placeContracts({ anvil }) {
  const node = viem.createTestClient({ chain, mode: "anvil", transport: viem.http(anvil.url) });
  const places = [
    [permit2, "TestPermit2"],
    [x402ExactPermit2ProxyAddress, "TestExactProxy"],
    [multicall3, "TestMulticall3"],
  ];
  for (const [address, name] of places) {
    await node.setCode({ address, bytecode: contract(name).runtime });
  }
}

/** A contract wallet of `owner` (EIP-1271) with `amount` of the token. Its address. */
export async function deployWallet({ anvil, client, token }, owner, amount) {
  const wallet = viem.createWalletClient({
    account: account(0), chain, transport: viem.http(anvil.url),
  });
  const { abi, bytecode } = contract("TestWallet");
  const { contractAddress } = await client.waitForTransactionReceipt({
    hash: await wallet.deployContract({ abi, bytecode, args: [owner] }),
  });
  await client.waitForTransactionReceipt({
    hash: await wallet.writeContract({
      address: token, abi: artifact.abi, functionName: "mint", args: [contractAddress, amount],
    }),
  });
  return viem.getAddress(contractAddress);
}

/** Every Transfer since the token was deployed but the minting: { from, to, value, hash }. */
export async function transfers({ client, token, fromBlock }) {
  const events = await client.getContractEvents({
    address: token, abi: artifact.abi, eventName: "Transfer", fromBlock,
  });
  return events
    .map(({ args, transactionHash }) => ({ ...args, hash: transactionHash }))
    .filter(({ from }) => from !== viem.zeroAddress);
}

/** Writes the key of anvil's account `index` to a file of the folder; its path. */
export function keyFile(folder, index) {
  const file = join(folder, `reference-${index}.key`);
  const key = Buffer.from(account(index).getHdKey().privateKey).toString("hex");
  writeFileSync(file, `0x${key}\n`, { mode: 0o600 });
  return file;
}

/** The reference facilitator in a process of its own, which can be killed and started again. */
export class ReferenceProcess {
  name = "the reference";
  keeps = "";

  constructor({ rpcUrl, folder, index = 2 }) {
    this.rpcUrl = rpcUrl;
    this.keyFile = keyFile(folder, index);
  }

  /** Chooses its port; itself. */
  async ready() {
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  start() {
    const script = fileURLToPath(new URL("./reference.mjs", import.meta.url));
    this.process = spawn(
      process.execPath,
      [script, this.rpcUrl, String(chainId), this.keyFile, String(this.port)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.exited = new Promise((resolve) => this.process.on("exit", resolve));
    return new Promise((resolve, reject) => {
      this.process.stdout.on("data", (data) => {
        if (String(data).includes("listening on ")) resolve();
      });
      this.process.on("error", reject);
      this.exited.then((code) => reject(new Error(`the reference ended with code ${code}`)));
    });
  }

  async kill() {
    if (!this.process) return;
    this.process.kill("SIGKILL");
    await this.exited;
  }
}

/** Started at once. */
export async function startReference(options) {
  const reference = await new ReferenceProcess(options).ready();
  await reference.start();
  return reference;
}

/** holdfast as a facilitator: a Holdfast whose `facilitator` is the base URL of its x402 face. */
export async function createHoldfast({ binary, folder, rpcUrl, token, accounts, ...rest }) {
  const holdfast = await Holdfast.create({
    binary, folder, rpcUrl, token, accounts, chainId,
    scopes: ["x402", "pay"],
    sections: "[x402]\nenabled = true\n",
    asset: "  permit2 = true",
    ...rest,
  });
  holdfast.facilitator = `${holdfast.url}/x402`;
  return holdfast;
}
