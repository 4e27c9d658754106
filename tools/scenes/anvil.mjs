// A local EVM node (anvil) and the development token on it, for scenes and tests.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as viem from "viem";
import { mnemonicToAccount } from "viem/accounts";

const here = (path) => new URL(path, import.meta.url);
const anvilPath = fileURLToPath(here("../node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"));
export const artifact = JSON.parse(
  readFileSync(here("../contracts/HoldfastToken.json"), "utf8"),
);
export const chainOf = (id) => viem.defineChain({
  id,
  name: "anvil",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});
export const chain = chainOf(31337);
export const tokenName = "Holdfast Dollar";
export const tokenVersion = "1";

/** anvil's own funded accounts: its published test mnemonic. */
export const account = (index) =>
  mnemonicToAccount("test test test test test test test test test test test junk", {
    addressIndex: index,
  });

/** One-second blocks; the final block is the second before the newest. */
export function startAnvil(more = []) {
  const args = ["--port", "0", "--block-time", "1", "--slots-in-an-epoch", "1", ...more];
  const process = spawn(anvilPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let said = "";
    process.stdout.on("data", (data) => {
      if (said === null) return;
      said += data;
      const found = /Listening on ([\d.]+:\d+)/.exec(said);
      if (!found) return;
      said = null;
      resolve({ process, url: `http://${found[1]}` });
    });
    process.on("error", reject);
    process.on("exit", (code) => reject(new Error(`anvil ended with code ${code}`)));
  });
}

/** Deploys the token and gives each owner `amount` of it. */
export async function deployToken(url, owners, amount, on = chain) {
  const deployer = account(0);
  const wallet = viem.createWalletClient({
    account: deployer, chain: on, transport: viem.http(url),
  });
  const client = viem.createPublicClient({
    chain: on,
    transport: viem.http(url),
    pollingInterval: 200,
  });
  const deployed = await client.waitForTransactionReceipt({
    hash: await wallet.deployContract({ ...artifact, args: [tokenName, tokenVersion] }),
  });
  const token = viem.getAddress(deployed.contractAddress);
  let nonce = await client.getTransactionCount({ address: deployer.address });
  const minted = [];
  for (const owner of owners) {
    minted.push(
      await wallet.writeContract({
        address: token,
        abi: artifact.abi,
        functionName: "mint",
        args: [owner, amount],
        nonce: nonce++,
        gas: 100_000n,
      }),
    );
  }
  for (const hash of minted) {
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error("minting failed");
  }
  return { token, client, fromBlock: deployed.blockNumber };
}
