// Owns: the seeded randomness of the vectors (SHA-256 of a seed and a counter), so that the same
// seed gives the same file on every machine.

import { createHash } from "node:crypto";

export class Random {
  #seed;
  #counter = 0;

  constructor(seed) {
    this.#seed = seed;
  }

  bytes(count) {
    const parts = [];
    for (let have = 0; have < count; have += 32) {
      parts.push(createHash("sha256").update(`${this.#seed}/${this.#counter++}`).digest());
    }
    return Buffer.concat(parts).subarray(0, count);
  }

  hex(count) {
    return "0x" + this.bytes(count).toString("hex");
  }

  /** 0 … below − 1. */
  below(below) {
    return Number(BigInt("0x" + this.bytes(8).toString("hex")) % BigInt(below));
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** Up to `bits` bits: every length is as likely as any other, and a fifth are edges. */
  uint(bits) {
    const top = (1n << BigInt(bits)) - 1n;
    if (this.below(5) === 0) {
      const edges = [0n, 1n, 127n, 128n, 255n, 256n, 1n << BigInt(bits - 1), top];
      return this.pick(edges.filter((edge) => edge <= top));
    }
    const length = BigInt(this.below(bits + 1));
    return BigInt(this.hex(32)) & ((1n << length) - 1n);
  }
}
