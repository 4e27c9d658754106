// Owns: vectors of keys, addresses, Keccak, RLP and recovery.

import * as ethers from "ethers";
import * as viem from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { agreed } from "./check.mjs";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (number) => viem.toHex(number, { size: 32 });

export function keys(random) {
  const edges = [word(1n), word(2n), word(order - 1n)];
  const all = [...edges, ...Array.from({ length: 40 }, () => random.hex(32))];
  return all.map((key) => ({
    key,
    address: agreed("address", privateKeyToAccount(key).address, ethers.computeAddress(key)),
  }));
}

export function addresses(random) {
  // The examples of EIP-55 itself, then random ones.
  const fixed = [
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0x0000000000000000000000000000000000000000",
  ];
  return [...fixed, ...Array.from({ length: 40 }, () => random.hex(20))].map((address) => {
    const lower = address.toLowerCase();
    return agreed("checksum", viem.getAddress(lower), ethers.getAddress(lower));
  });
}

export function keccak(random) {
  // Around the sponge's rate of 136 bytes, where padding goes wrong.
  const sizes = [0, 1, 31, 32, 33, 64, 134, 135, 136, 137, 200, 271, 272, 273, 1000, 4096];
  return sizes.map((size) => {
    const data = random.hex(size);
    return { data, hash: agreed("keccak", viem.keccak256(data), ethers.keccak256(data)) };
  });
}

function rlpTree(random, depth) {
  if (depth > 0 && random.below(2) === 0) {
    return Array.from({ length: random.below(6) }, () => rlpTree(random, depth - 1));
  }
  return random.hex(random.pick([0, 1, 1, 1, 2, 20, 32, 54, 55, 56, 57, 120]));
}

export function rlp(random) {
  const fixed = ["0x", "0x00", "0x7f", "0x80", "0x0400", [], [[]], [[], [[]], [[], [[]]]]];
  const long = [random.hex(255), random.hex(256), random.hex(5000)];
  const list = Array.from({ length: 300 }, () => random.hex(1));
  const all = [...fixed, ...long, list, ...Array.from({ length: 60 }, () => rlpTree(random, 4))];
  return all.map((value) => ({
    value,
    encoded: agreed("rlp", viem.toRlp(value), ethers.encodeRlp(value)),
  }));
}

/** A signature whose r is no point's x: it is in range, and nobody can have made it. */
function orphan(random, digest) {
  for (;;) {
    const signature = { r: word(random.uint(255) + 2n), s: word(random.uint(250) + 1n), v: 27 };
    try {
      ethers.recoverAddress(digest, signature);
    } catch {
      return ethers.concat([signature.r, signature.s, "0x1b"]);
    }
  }
}

export async function recovered(random) {
  const out = [];
  for (let i = 0; i < 40; ++i) {
    const key = random.hex(32);
    const digest = i === 0 ? word(0n) : random.hex(32);
    const signature = agreed(
      "signature",
      await privateKeyToAccount(key).sign({ hash: digest }),
      new ethers.SigningKey(key).sign(digest).serialized,
    );
    const signer = agreed(
      "recovery",
      await viem.recoverAddress({ hash: digest, signature }),
      ethers.recoverAddress(digest, signature),
    );
    out.push({ key, digest, signature, signer });
  }
  return out;
}

export function badSignatures(random) {
  const digest = random.hex(32);
  const good = new ethers.SigningKey(random.hex(32)).sign(digest);
  const join = (r, s, v) => ethers.concat([word(BigInt(r)), word(BigInt(s)), v]);
  const highS = join(good.r, order - BigInt(good.s), good.v === 27 ? "0x1c" : "0x1b");
  const v = ethers.toBeHex(good.v);
  const bad = (why, signature, code = "bad_signature") => ({ why, digest, signature, code });
  return [
    bad("s in the upper half", highS, "malleable_signature"),
    bad("s one above the half", join(good.r, order / 2n + 1n, v), "malleable_signature"),
    bad("s the largest there is", join(good.r, order - 1n, v), "malleable_signature"),
    bad("v 2", join(good.r, good.s, "0x02")),
    bad("v 26", join(good.r, good.s, "0x1a")),
    bad("v 29", join(good.r, good.s, "0x1d")),
    bad("v 255", join(good.r, good.s, "0xff")),
    bad("r zero", join(0n, good.s, v)),
    bad("s zero", join(good.r, 0n, v)),
    bad("r the order", join(order, good.s, v)),
    bad("s the order", join(good.r, order, v)),
    bad("r all ones", join((1n << 256n) - 1n, good.s, v)),
    bad("r of no point", orphan(random, digest)),
    bad("r of no point, again", orphan(random, digest)),
    bad("nothing", "0x"),
    bad("64 bytes (EIP-2098)", ethers.Signature.from(good).compactSerialized),
    bad("66 bytes", good.serialized + "00"),
  ];
}

export function badAddresses(random) {
  const good = viem.getAddress(random.hex(20));
  const at = [...good].findIndex((c, i) => i > 1 && /[a-f]/.test(c));
  const flipped = good.slice(0, at) + good[at].toUpperCase() + good.slice(at + 1);
  const bad = (text, code) => ({ text, code });
  if (viem.isAddress(flipped) || ethers.isAddress(flipped)) throw new Error("not a bad checksum");
  return [
    bad(flipped, "bad_checksum"),
    bad("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "bad_checksum"),
    bad("", "bad_address"),
    bad("0x", "bad_address"),
    bad(good.slice(2), "bad_address"),
    bad("0X" + good.slice(2), "bad_address"),
    bad(good.slice(0, -1), "bad_address"),
    bad(good + "0", "bad_address"),
    bad(good.slice(0, -1) + "g", "bad_address"),
    bad(" " + good.slice(0, -1), "bad_address"),
    bad(good.slice(2) + "0x", "bad_address"),
  ];
}

/** `depth` lists within one another, the innermost empty. */
function nested(depth) {
  const lengths = Array.from({ length: depth }, (_, i) => 0xc0 + depth - 1 - i);
  return "0x" + Buffer.from(lengths).toString("hex");
}

export function badRlp() {
  const bad = (why, encoded) => ({ why, encoded });
  return [
    bad("nothing", "0x"),
    bad("a small byte with a length", "0x8100"),
    bad("a small byte with a length, the largest", "0x817f"),
    bad("a short string in the long form", "0xb801ff"),
    bad("55 bytes in the long form", "0xb837" + "aa".repeat(55)),
    bad("a length with a leading zero", "0xb90038" + "aa".repeat(56)),
    bad("a short list in the long form", "0xf80102"),
    bad("a list's length with a leading zero", "0xf90038" + "01".repeat(56)),
    bad("bytes behind a string", "0x8200ff00"),
    bad("bytes behind a list", "0xc000"),
    bad("a second value", "0x0000"),
    bad("a string cut short", "0x83aabb"),
    bad("a list cut short", "0xc301"),
    bad("a length cut short", "0xb9ff"),
    bad("an item longer than its list", "0xc283aabb"),
    bad("an inner item that is not canonical", "0xc28101"),
    bad("a length of 2^64 - 1", "0xbfffffffffffffffff"),
    bad("a list's length of 2^64 - 1", "0xffffffffffffffffff"),
    bad("lists nested too deeply", nested(40)),
  ];
}
