// Owns: vectors of what contracts are told, log and answer, and of what wallets sign for them.

import * as ethers from "ethers";
import * as viem from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { agreed } from "./check.mjs";

const signatures = [
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "error Error(string reason)",
  "error Panic(uint256 code)",
  "error NotEnough(uint256 have, uint256 want)",
];
const transferWith = (rest) =>
  "function transferWithAuthorization(address from, address to, uint256 value, " +
  `uint256 validAfter, uint256 validBefore, bytes32 nonce, ${rest})`;
const byParts = [transferWith("uint8 v, bytes32 r, bytes32 s")];
const byBytes = [transferWith("bytes signature")];

/** Call data, by both libraries. */
function call(abi, functionName, args = []) {
  return agreed(
    functionName,
    viem.encodeFunctionData({ abi: viem.parseAbi(abi), functionName, args }),
    new ethers.Interface(abi).encodeFunctionData(functionName, args),
  );
}

const transferTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};
const cancelTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
};

function domainOf(random) {
  return {
    name: random.pick(["USD Coin", "USDC", "", "Holdfast Dollar", "Ünïcode ✓ \"quoted\"\n"]),
    version: random.pick(["1", "2", "", "2.1-β"]),
    chainId: random.pick([1, 8453, 84532, 31337, Number.MAX_SAFE_INTEGER]),
    verifyingContract: viem.getAddress(random.hex(20)),
  };
}

const domainRecord = (domain) => ({
  name: domain.name,
  version: domain.version,
  chain_id: String(domain.chainId),
  verifying_contract: domain.verifyingContract,
});

/** Digest and signature of typed data, by both libraries. */
async function typed(key, domain, types, primaryType, message) {
  const digest = agreed(
    "typed data",
    viem.hashTypedData({ domain, types, primaryType, message }),
    ethers.TypedDataEncoder.hash(domain, types, message),
  );
  const signature = agreed(
    "typed data signature",
    await privateKeyToAccount(key).signTypedData({ domain, types, primaryType, message }),
    await new ethers.Wallet(key).signTypedData(domain, types, message),
  );
  const structHash = agreed(
    "struct",
    viem.hashStruct({ data: message, primaryType, types }),
    ethers.TypedDataEncoder.hashStruct(primaryType, types, message),
  );
  return { digest, signature, struct_hash: structHash };
}

/** The request for a wallet as ethers builds it, with checksums, and the chain id as a number. */
function walletRequest(domain, message) {
  const built = ethers.TypedDataEncoder.getPayload(domain, transferTypes, message);
  built.domain.chainId = Number(built.domain.chainId);
  built.domain.verifyingContract = domain.verifyingContract;
  built.message.from = message.from;
  built.message.to = message.to;
  agreed(
    "a wallet's request",
    viem.hashTypedData(JSON.parse(JSON.stringify(built))),
    ethers.TypedDataEncoder.hash(domain, transferTypes, message),
  );
  return built;
}

export async function authorizations(random) {
  const out = [];
  for (let i = 0; i < 50; ++i) {
    const key = random.hex(32);
    const domain = domainOf(random);
    const message = {
      from: privateKeyToAccount(key).address,
      to: viem.getAddress(random.hex(20)),
      value: random.uint(random.pick([32, 64, 256])),
      validAfter: random.uint(random.pick([1, 33, 256])),
      validBefore: random.uint(random.pick([33, 64, 256])),
      nonce: random.hex(32),
    };
    const made = await typed(key, domain, transferTypes, "TransferWithAuthorization", message);
    const { r, s, v } = ethers.Signature.from(made.signature);
    const args = Object.values(message);
    const longer = random.hex(random.pick([0, 1, 31, 32, 33, 64, 96, 500]));
    out.push({
      key,
      domain: domainRecord(domain),
      from: message.from,
      to: message.to,
      value: String(message.value),
      valid_after: String(message.validAfter),
      valid_before: String(message.validBefore),
      nonce: message.nonce,
      separator: agreed(
        "separator",
        viem.domainSeparator({ domain }),
        ethers.TypedDataEncoder.hashDomain(domain),
      ),
      ...made,
      call: call(byParts, "transferWithAuthorization", [...args, v, r, s]),
      call_bytes: call(byBytes, "transferWithAuthorization", [...args, made.signature]),
      wallet_signature: longer,
      call_wallet: call(byBytes, "transferWithAuthorization", [...args, longer]),
      ...(i < 12 ? { typed_data: walletRequest(domain, message) } : {}),
    });
  }
  return out;
}

export async function cancellations(random) {
  const out = [];
  for (let i = 0; i < 15; ++i) {
    const key = random.hex(32);
    const domain = domainOf(random);
    const message = { authorizer: privateKeyToAccount(key).address, nonce: random.hex(32) };
    const made = await typed(key, domain, cancelTypes, "CancelAuthorization", message);
    const { r, s, v } = ethers.Signature.from(made.signature);
    out.push({
      domain: domainRecord(domain),
      ...message,
      ...made,
      call: call(signatures, "cancelAuthorization", [...Object.values(message), v, r, s]),
      state_call: call(signatures, "authorizationState", Object.values(message)),
    });
  }
  return out;
}

export function transfers(random) {
  return Array.from({ length: 30 }, () => {
    const to = viem.getAddress(random.hex(20));
    const amount = random.uint(256);
    const ref = random.hex(32);
    const plain = call(signatures, "transfer", [to, amount]);
    return { to, amount: String(amount), ref, call: plain, call_with_ref: plain + ref.slice(2) };
  });
}

export function views(random) {
  const account = viem.getAddress(random.hex(20));
  return {
    account,
    balance_of: call(signatures, "balanceOf", [account]),
    decimals: call(signatures, "decimals"),
    name: call(signatures, "name"),
    version: call(signatures, "version"),
    domain_separator: call(signatures, "DOMAIN_SEPARATOR"),
  };
}

function answer(functionName, value) {
  const types = new ethers.Interface(signatures).getFunction(functionName).outputs;
  return agreed(
    `${functionName}'s answer`,
    viem.encodeFunctionResult({ abi: viem.parseAbi(signatures), functionName, result: value }),
    ethers.AbiCoder.defaultAbiCoder().encode(types, [value]),
  );
}

export function answers(random) {
  const texts = ["", "USD Coin", "x".repeat(31), "y".repeat(32), "z".repeat(33), "✓".repeat(85)];
  return {
    uint: Array.from({ length: 10 }, () => random.uint(256)).map((value) => ({
      value: String(value),
      answer: answer("balanceOf", value),
    })),
    uint8: [0, 6, 18, 255].map((value) => ({ value, answer: answer("decimals", value) })),
    string: texts.map((value) => ({ value, answer: answer("name", value) })),
    boolean: [false, true].map((value) => ({ value, answer: answer("authorizationState", value) })),
  };
}

/** Topics and data of an event, by both libraries. */
function event(eventName, args) {
  const [topics, data] = (() => {
    const made = new ethers.Interface(signatures).encodeEventLog(eventName, args);
    return [made.topics, made.data];
  })();
  const abi = viem.parseAbi(signatures);
  const names = abi.find((item) => item.type === "event" && item.name === eventName).inputs;
  const byName = Object.fromEntries(names.map((input, at) => [input.name, args[at]]));
  agreed(eventName, viem.encodeEventTopics({ abi, eventName, args: byName }), topics);
  return { event: eventName, topics, data };
}

export function logs(random) {
  const out = [];
  for (let i = 0; i < 12; ++i) {
    const [from, to] = [viem.getAddress(random.hex(20)), viem.getAddress(random.hex(20))];
    const value = random.uint(256);
    const nonce = random.hex(32);
    out.push({ ...event("Transfer", [from, to, value]), from, to, value: String(value) });
    out.push({ ...event("AuthorizationUsed", [from, nonce]), authorizer: from, nonce });
    out.push({ ...event("AuthorizationCanceled", [from, nonce]), authorizer: from, nonce });
  }
  return out;
}

function revert(errorName, args) {
  const data = agreed(
    errorName,
    viem.encodeErrorResult({ abi: viem.parseAbi(signatures), errorName, args }),
    new ethers.Interface(signatures).encodeErrorResult(errorName, args),
  );
  return { error: errorName, value: String(args[0]), data };
}

export function reverts() {
  const reasons = ["", "authorization is used", "x".repeat(31), "x".repeat(32), "ünïcode ✓"];
  const codes = [0x00n, 0x01n, 0x11n, 0x12n, 0x21n, 0x22n, 0x31n, 0x32n, 0x41n, 0x51n];
  return [
    ...reasons.map((reason) => revert("Error", [reason])),
    ...codes.map((code) => revert("Panic", [code])),
    revert("Panic", [0xffn]),
    revert("NotEnough", [1n, 2n]),
  ];
}
