// Runs the token of HoldfastToken.json on anvil: every way to pay with it, and every refusal.
//
//   node tools/contracts/selftest.mjs
//
// Exit code 0 only if everything happened as it should.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as viem from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { compile } from "./compiler.mjs";

const here = (path) => new URL(path, import.meta.url);
const artifact = JSON.parse(readFileSync(here("./HoldfastToken.json"), "utf8"));
const anvilPath = fileURLToPath(
  here("../node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"),
);
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const chain = viem.defineChain({
  id: 31337,
  name: "anvil",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});
const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
};

/** Starts anvil on a free port; answers the process and its URL once it listens. */
function startAnvil() {
  const anvil = spawn(anvilPath, ["--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let said = "";
    anvil.stdout.on("data", (data) => {
      said += data;
      const found = /Listening on ([\d.]+:\d+)/.exec(said);
      if (found) resolve({ anvil, url: `http://${found[1]}` });
    });
    anvil.on("error", reject);
    anvil.on("exit", (code) => reject(new Error(`anvil ended with code ${code}`)));
  });
}

class Scene {
  constructor(url) {
    const transport = viem.http(url);
    this.client = viem
      .createTestClient({ chain, mode: "anvil", transport })
      .extend(viem.publicActions)
      .extend(viem.walletActions);
    this.payer = privateKeyToAccount(generatePrivateKey());
    this.payee = privateKeyToAccount(generatePrivateKey()).address;
  }

  async deploy({ abi, bytecode }, args) {
    const [account] = await this.client.getAddresses();
    this.account = account;
    const hash = await this.client.deployContract({ abi, bytecode, args, account });
    const receipt = await this.client.waitForTransactionReceipt({ hash });
    return receipt.contractAddress;
  }

  read(functionName, args = []) {
    return this.client.readContract({ ...this.contract, functionName, args });
  }

  /** Simulates, sends and waits; answers the decoded logs. */
  async run(functionName, args) {
    const { request } = await this.client.simulateContract({
      ...this.contract, functionName, args, account: this.account,
    });
    const hash = await this.client.writeContract(request);
    const receipt = await this.client.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, "success");
    return viem.parseEventLogs({ abi: artifact.abi, logs: receipt.logs });
  }

  /** The call must be refused with exactly this reason. */
  async refused(reason, functionName, args) {
    const call = this.client.simulateContract({
      ...this.contract, functionName, args, account: this.account,
    });
    await assert.rejects(call, (error) => {
      const revert = error.walk((one) => one instanceof viem.ContractFunctionRevertedError);
      assert.equal(revert?.reason, reason);
      return true;
    });
  }

  authorization(changes = {}) {
    return {
      from: this.payer.address,
      to: this.payee,
      value: 1_500_000n,
      validAfter: 0n,
      validBefore: 1n << 40n,
      nonce: generatePrivateKey(),
      ...changes,
    };
  }

  sign(primaryType, message) {
    return this.payer.signTypedData({ domain: this.domain, types, primaryType, message });
  }

  /** Arguments of both overloads, properly signed. */
  async signed(changes) {
    const message = this.authorization(changes);
    const signature = await this.sign("TransferWithAuthorization", message);
    const { r, s, v } = viem.parseSignature(signature);
    const terms = Object.values(message);
    return { message, byParts: [...terms, Number(v), r, s], byBytes: [...terms, signature] };
  }
}

async function prepare(scene) {
  const address = await scene.deploy(artifact, ["Holdfast Dollar", "1"]);
  scene.contract = { address, abi: artifact.abi };
  scene.domain = {
    name: "Holdfast Dollar", version: "1", chainId: chain.id, verifyingContract: address,
  };
  assert.equal(await scene.read("decimals"), 6);
  const separator = viem.domainSeparator({ domain: scene.domain });
  assert.equal(await scene.read("DOMAIN_SEPARATOR"), separator);
  await scene.run("mint", [scene.payer.address, 100_000_000n]);
  assert.equal(await scene.read("totalSupply"), 100_000_000n);
}

async function paysByBothOverloads(scene) {
  let expected = 0n;
  for (const overload of ["byParts", "byBytes"]) {
    const signed = await scene.signed();
    const { from, to, value, nonce } = signed.message;
    assert.equal(await scene.read("authorizationState", [from, nonce]), false);
    const logs = await scene.run("transferWithAuthorization", signed[overload]);
    assert.deepEqual(logs.map((log) => [log.eventName, log.args]), [
      ["AuthorizationUsed", { authorizer: from, nonce }],
      ["Transfer", { from, to, value }],
    ]);
    expected += value;
    assert.equal(await scene.read("balanceOf", [to]), expected);
    assert.equal(await scene.read("authorizationState", [from, nonce]), true);
    const used = "authorization is used or canceled";
    await scene.refused(used, "transferWithAuthorization", signed.byParts);
    await scene.refused(used, "transferWithAuthorization", signed.byBytes);
  }
}

async function refusesWhatIsWrong(scene) {
  const pay = "transferWithAuthorization";
  const refused = async (reason, changes) =>
    scene.refused(reason, pay, (await scene.signed(changes)).byParts);
  await refused("authorization is expired", { validBefore: 1n });
  await refused("authorization is not yet valid", { validAfter: 1n << 39n });
  await refused("transfer amount exceeds balance", { value: 1n << 200n });
  await refused("transfer to the zero address", { to: viem.zeroAddress });
  await refused("invalid signature", { from: scene.account });

  const { byParts, byBytes } = await scene.signed();
  const [v, r, s] = byParts.slice(-3);
  const terms = byParts.slice(0, -3);
  const highS = viem.toHex(order - BigInt(s), { size: 32 });
  await scene.refused("invalid signature", pay, [...terms, v === 27 ? 28 : 27, r, highS]);
  await scene.refused("invalid signature", pay, [...terms, v - 27, r, s]);
  await scene.refused("invalid signature", pay, [...terms, byBytes[6] + "00"]);
  await scene.refused("invalid signature", pay, [...terms, byBytes[6].slice(0, -2)]);
  await scene.refused("invalid signature", pay, [...terms, v, viem.zeroHash, s]);
  await scene.refused("invalid signature", pay, byParts.with(2, 1_500_001n));
}

async function cancels(scene) {
  const signed = await scene.signed();
  const message = { authorizer: signed.message.from, nonce: signed.message.nonce };
  const { r, s, v } = viem.parseSignature(await scene.sign("CancelAuthorization", message));
  const args = [message.authorizer, message.nonce, Number(v), r, s];
  await scene.refused("invalid signature", "cancelAuthorization", args.with(2, Number(v) ^ 7));
  const logs = await scene.run("cancelAuthorization", args);
  assert.deepEqual(logs.map((log) => [log.eventName, log.args]), [
    ["AuthorizationCanceled", message],
  ]);
  const used = "authorization is used or canceled";
  await scene.refused(used, "transferWithAuthorization", signed.byParts);
  await scene.refused(used, "cancelAuthorization", args);
}

async function paysFromAWallet(scene) {
  const wallet = await scene.deploy(compile("TestWallet"), [scene.payer.address]);
  await scene.run("mint", [wallet, 5_000_000n]);
  const { message, byBytes } = await scene.signed({ from: wallet });
  const signature = byBytes[6];
  const args = (bytes) => byBytes.with(6, bytes);
  await scene.refused("invalid signature", "transferWithAuthorization", args(signature));
  await scene.run("transferWithAuthorization", args("0x77" + signature.slice(2)));
  assert.equal(await scene.read("balanceOf", [wallet]), 5_000_000n - message.value);
}

async function ignoresARefBehindTheArguments(scene) {
  await scene.run("mint", [scene.account, 7n]);
  const { address, abi } = scene.contract;
  const to = privateKeyToAccount(generatePrivateKey()).address;
  const call = viem.encodeFunctionData({ abi, functionName: "transfer", args: [to, 7n] });
  const data = call + generatePrivateKey().slice(2);
  const hash = await scene.client.sendTransaction({ account: scene.account, to: address, data });
  const receipt = await scene.client.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, "success");
  assert.equal(await scene.read("balanceOf", [to]), 7n);
}

const { anvil, url } = await startAnvil();
try {
  const scene = new Scene(url);
  await prepare(scene);
  const parts = [
    paysByBothOverloads, refusesWhatIsWrong, cancels, paysFromAWallet,
    ignoresARefBehindTheArguments,
  ];
  for (const part of parts) {
    await part(scene);
    console.log(`selftest: ${part.name}: ok`);
  }
} finally {
  anvil.removeAllListeners("exit");
  anvil.kill();
}
