// The reference facilitator of npm (@x402/core, @x402/evm), wired at its best: one account whose
// numbers one nonce manager gives out, a receipt asked for every 100 ms, an express server. Used
// unmodified as what the x402 tests are tried against, and as what the benchmark compares with.
//
//   node reference.mjs RPC_URL CHAIN_ID PRIVATE_KEY_FILE [PORT]
//
// Says "listening on PORT" once it serves GET /supported, POST /verify and POST /settle.
import { readFileSync } from "node:fs";
import process from "node:process";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { registerExactEvmScheme } from "@x402/evm/exact/facilitator";
import express from "express";
import * as viem from "viem";
import { nonceManager, privateKeyToAccount } from "viem/accounts";
import { chainOf } from "../anvil.mjs";

const [rpcUrl, chainId, keyFile, port = "0"] = process.argv.slice(2);
const account = privateKeyToAccount(readFileSync(keyFile, "utf8").trim(), { nonceManager });
const client = viem
  .createWalletClient({
    account,
    chain: chainOf(Number(chainId)),
    transport: viem.http(rpcUrl),
    pollingInterval: 100,
  })
  .extend(viem.publicActions);

const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => client.getCode(args),
  readContract: (args) => client.readContract(args),
  verifyTypedData: (args) => client.verifyTypedData(args),
  writeContract: (args) => client.writeContract(args),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
});
const facilitator = registerExactEvmScheme(new x402Facilitator(), {
  signer,
  networks: `eip155:${chainId}`,
});

const app = express();
app.use(express.json({ limit: "1mb" }));
app.get("/supported", (request, response) => response.json(facilitator.getSupported()));
for (const act of ["verify", "settle"]) {
  app.post(`/${act}`, async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body;
    try {
      response.json(await facilitator[act](paymentPayload, paymentRequirements));
    } catch (error) {
      response.status(500).json({ error: error instanceof Error ? error.message : String(error) });
    }
  });
}
const server = app.listen(Number(port), "127.0.0.1", () => {
  console.log(`listening on ${server.address().port}`);
});
