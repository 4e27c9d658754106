// Owns: how many transactions a node takes and mines that were signed before: what a payment on it
// costs at least. Must never: sign while it measures.
import { keccak256, numberToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const senders = 32;
const inABatch = 100;
const connections = 4;

/** Transfers of the node's own money, from accounts made for it, each to an account of its own. */
export async function presign(count) {
  const accounts = Array.from({ length: senders }, () => privateKeyToAccount(generatePrivateKey()));
  const bytes = [];
  for (let i = 0; i < count; i += 1) {
    bytes.push(await accounts[i % senders].signTransaction({
      chainId: 31337,
      type: "eip1559",
      nonce: Math.floor(i / senders),
      to: `0x${keccak256(numberToHex(i)).slice(26)}`,
      value: 1n,
      gas: 21_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    }));
  }
  return { accounts: accounts.map(({ address }) => address), bytes };
}

async function post(url, calls) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls.map(([method, params], id) => (
      { jsonrpc: "2.0", id, method, params }))),
  });
  const told = await answer.json();
  const wrong = told.find(({ error }) => error);
  if (wrong) throw new Error(`the node: ${wrong.error.message}`);
  return told;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Transactions a second, from the first post until the last is mined. */
export async function anvilAlone(url, { accounts, bytes }) {
  const money = "0x3635c9adc5dea00000";
  await post(url, accounts.map((address) => ["anvil_setBalance", [address, money]]));
  const began = performance.now();
  let next = 0;
  const line = async () => {
    while (next < bytes.length) {
      const batch = bytes.slice(next, (next += inABatch));
      await post(url, batch.map((each) => ["eth_sendRawTransaction", [each]]));
    }
  };
  await Promise.all(Array.from({ length: connections }, line));
  const last = keccak256(bytes.at(-1));
  for (;;) {
    const counts = await post(url, accounts.map((address) => (
      ["eth_getTransactionCount", [address, "latest"]])));
    const mined = counts.reduce((sum, { result }) => sum + Number(result), 0);
    if (mined === bytes.length) break;
    if (performance.now() - began > 600_000) throw new Error(`the node does not mine ${last}`);
    await pause(20);
  }
  return bytes.length / ((performance.now() - began) / 1000);
}
