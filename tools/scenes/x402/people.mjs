// The customers of an x402 scene.
import * as viem from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { account, artifact } from "../anvil.mjs";
import { buyer, walletSigner } from "./buyer.mjs";
import { chain, deployWallet, network, networkV1, permit2 } from "./world.mjs";

export const startBalance = 1_000_000_000n;
const names = { network, networkV1 };

/** An ordinary account, a contract wallet, and an account that lets Permit2 move its tokens. */
export async function people(world) {
  const owner = privateKeyToAccount(generatePrivateKey());
  const wallet = await deployWallet(world, owner.address, startBalance);
  const permitting = account(5);
  const client = viem.createWalletClient({
    account: permitting, chain, transport: viem.http(world.anvil.url),
  });
  const hash = await client.writeContract({
    address: world.token, abi: artifact.abi, functionName: "approve",
    args: [permit2, viem.maxUint256],
  });
  await world.client.waitForTransactionReceipt({ hash });
  return {
    ordinary: buyer(account(4), names),
    wallet: buyer(walletSigner(wallet, owner), names),
    permitting: buyer(permitting, names),
  };
}
