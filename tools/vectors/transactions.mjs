// Owns: vectors of signed EIP-1559 transactions, good and bad.

import * as ethers from "ethers";
import * as viem from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { agreed } from "./check.mjs";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const largest = (1n << 256n) - 1n;

function transaction(random) {
  const fee = random.uint(random.pick([40, 40, 64, 256]));
  const tip = random.uint(random.pick([34, 64, 256]));
  return {
    chainId: random.pick([1, 8453, 84532, 31337, 137, 2 ** 32, Number.MAX_SAFE_INTEGER]),
    nonce: Number(random.uint(random.pick([7, 16, 32, 53]))),
    maxPriorityFeePerGas: tip < fee ? tip : fee,
    maxFeePerGas: fee,
    gas: random.uint(random.pick([24, 32, 64])),
    to: viem.getAddress(random.hex(20)),
    value: random.uint(random.pick([1, 64, 128, 256])),
    data: random.hex(random.pick([0, 0, 1, 4, 32, 55, 56, 68, 100, 292, 700])),
  };
}

function edges(random) {
  const plain = () => ({ ...transaction(random), data: "0x", value: 0n });
  return [
    { ...plain(), nonce: 0 },
    { ...plain(), nonce: 127 },
    { ...plain(), nonce: 128 },
    { ...plain(), nonce: Number.MAX_SAFE_INTEGER },
    { ...plain(), value: largest },
    { ...plain(), maxFeePerGas: largest, maxPriorityFeePerGas: largest },
    { ...plain(), maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    { ...plain(), gas: 0n },
    { ...plain(), gas: (1n << 64n) - 1n },
    { ...plain(), to: ethers.ZeroAddress },
    { ...plain(), data: "0x00" },
    { ...plain(), data: "0x7f" },
    { ...plain(), data: random.hex(4000) },
  ];
}

function asEthers(tx) {
  return ethers.Transaction.from({
    type: 2,
    chainId: tx.chainId,
    nonce: tx.nonce,
    maxPriorityFeePerGas: tx.maxPriorityFeePerGas,
    maxFeePerGas: tx.maxFeePerGas,
    gasLimit: tx.gas,
    to: tx.to,
    value: tx.value,
    data: tx.data,
  });
}

function record(key, tx, digest, raw) {
  return {
    key,
    sender: ethers.computeAddress(key),
    chain_id: String(tx.chainId),
    nonce: String(tx.nonce),
    max_priority_fee: String(tx.maxPriorityFeePerGas),
    max_fee: String(tx.maxFeePerGas),
    gas_limit: String(tx.gas),
    to: tx.to,
    value: String(tx.value),
    data: tx.data,
    digest,
    raw,
    hash: agreed("hash", viem.keccak256(raw), ethers.keccak256(raw)),
  };
}

async function signed(key, tx) {
  const unsigned = asEthers(tx);
  const digest = agreed(
    "digest",
    viem.keccak256(viem.serializeTransaction({ type: "eip1559", ...tx })),
    unsigned.unsignedHash,
  );
  unsigned.signature = new ethers.SigningKey(key).sign(digest);
  const raw = agreed(
    "raw",
    await privateKeyToAccount(key).signTransaction({ type: "eip1559", ...tx }),
    unsigned.serialized,
  );
  return record(key, tx, digest, raw);
}

const quantity = (number) => (BigInt(number) === 0n ? "0x" : ethers.toBeHex(BigInt(number)));

/** The typed envelope of EIP-2718 around any list of fields. */
const envelope = (fields) => "0x02" + ethers.encodeRlp(fields).slice(2);

/** Signs a list of fields as they are, however wrong: [nine fields] → raw bytes. */
function signFields(key, fields) {
  const digest = ethers.keccak256(envelope(fields));
  const signature = new ethers.SigningKey(key).sign(digest);
  const tail = [signature.yParity, signature.r, signature.s].map(quantity);
  return { digest, raw: envelope([...fields, ...tail]) };
}

const fieldsOf = (tx) => [
  quantity(tx.chainId), quantity(tx.nonce), quantity(tx.maxPriorityFeePerGas),
  quantity(tx.maxFeePerGas), quantity(tx.gas), tx.to, quantity(tx.value), tx.data, [],
];

/** Beyond 2^53, where both libraries stop: their RLP and signatures, put together here. */
function hugeNonce(random) {
  const key = random.hex(32);
  const tx = { ...transaction(random), nonce: (1n << 64n) - 2n };
  const { digest, raw } = signFields(key, fieldsOf(tx));
  return record(key, tx, digest, raw);
}

export async function transactions(random) {
  const all = [...edges(random), ...Array.from({ length: 110 }, () => transaction(random))];
  const out = [];
  for (const tx of all) out.push(await signed(random.hex(32), tx));
  out.push(hugeNonce(random));
  return out;
}

export async function badTransactions(random) {
  const key = random.hex(32);
  const tx = { ...transaction(random), chainId: 8453, nonce: 7, data: "0xaabb", value: 5n };
  const account = privateKeyToAccount(key);
  const good = (await signed(key, tx)).raw;
  const fields = ethers.decodeRlp("0x" + good.slice(4));
  const changed = (at, value) => {
    const copy = [...fields];
    copy[at] = value;
    return envelope(copy);
  };
  const resigned = (at, value) => signFields(key, [...fields.slice(0, 9)].with(at, value)).raw;
  const highS = [...fields];
  highS[9] = fields[9] === "0x" ? "0x01" : "0x";
  highS[11] = quantity(order - BigInt(fields[11]));
  const malleable = envelope(highS);
  // To a reader that does not look, it is the same payment by the same sender under another hash.
  agreed("the other form's sender", account.address, ethers.Transaction.from(malleable).from);
  const accessList = [{ address: tx.to, storageKeys: [random.hex(32)] }];
  const legacy = { ...tx, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 9n };
  const bad = (why, raw, code) => ({ why, raw, code });
  return [
    bad("a high s", malleable, "malleable_signature"),
    bad("nothing", "0x", "bad_transaction"),
    bad("a type and nothing else", "0x02", "bad_rlp"),
    bad("a trailing byte", good + "00", "bad_rlp"),
    bad("the last byte missing", good.slice(0, -2), "bad_rlp"),
    bad("y_parity 2", changed(9, "0x02"), "bad_signature"),
    bad("y_parity 27", changed(9, "0x1b"), "bad_signature"),
    bad("r zero", changed(10, "0x"), "bad_signature"),
    bad("s the order", changed(11, quantity(order)), "bad_signature"),
    bad("r with a leading zero", changed(10, "0x00" + fields[10].slice(2)), "bad_rlp"),
    bad("y_parity as a zero byte", changed(9, "0x00"), "bad_rlp"),
    bad("a nonce with a leading zero", resigned(1, "0x0007"), "bad_rlp"),
    bad("a zero nonce as a zero byte", resigned(1, "0x00"), "bad_rlp"),
    bad("a value of 33 bytes", resigned(6, "0x01" + "00".repeat(32)), "bad_rlp"),
    bad("a nonce of nine bytes", resigned(1, "0x01" + "00".repeat(8)), "bad_rlp"),
    bad("a gas limit of nine bytes", resigned(4, "0x01" + "00".repeat(8)), "bad_rlp"),
    bad("the nonce 2^64 - 1", resigned(1, "0x" + "ff".repeat(8)), "bad_transaction"),
    bad("a list for a nonce", resigned(1, []), "bad_rlp"),
    bad("a list for an address", resigned(5, []), "bad_transaction"),
    bad("a list for data", resigned(7, ["0x01"]), "bad_transaction"),
    bad("an address of 19 bytes", resigned(5, tx.to.slice(0, -2)), "bad_transaction"),
    bad("an address of 21 bytes", resigned(5, tx.to + "00"), "bad_transaction"),
    bad("a contract creation", resigned(5, "0x"), "bad_transaction"),
    bad("a string for an access list", resigned(8, "0x"), "bad_transaction"),
    bad("a tip above the fee", resigned(2, quantity(tx.maxFeePerGas + 1n)), "bad_transaction"),
    bad("thirteen fields", envelope([...fields, "0x"]), "bad_transaction"),
    bad("eleven fields", envelope(fields.slice(0, 11)), "bad_transaction"),
    bad("unsigned", viem.serializeTransaction({ type: "eip1559", ...tx }), "bad_transaction"),
    bad("a string of fields", envelope("0xaabbcc"), "bad_transaction"),
    bad(
      "an access list",
      await account.signTransaction({ type: "eip1559", ...tx, accessList }),
      "bad_transaction",
    ),
    bad("legacy", await account.signTransaction({ type: "legacy", ...legacy }), "bad_transaction"),
    bad("type 1", await account.signTransaction({ type: "eip2930", ...legacy }), "bad_transaction"),
  ];
}
