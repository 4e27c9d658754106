// Owns: what every peer does alike: the jobs, the clock, and the proof that each was worked once.
import process from "node:process";

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

/** What the job of this number carries: the terms of a payment, as our own store keeps them. */
export const payload = (number) => ({
  number,
  intent: `pi_${hex(number, 64)}`,
  ref: `0x${hex(number, 64)}`,
  chain: "eip155:31337",
  asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  payer: `0x${hex(number % 64, 40)}`,
  payee: `0x${hex(1_000_000 + number, 40)}`,
  amount: String(number + 1),
  method: "payout",
});

/** The numbers in slices of at most `size`: what a bulk add takes at once. */
export function* slices(jobs, size) {
  for (let from = 0; from < jobs; from += size) {
    yield Array.from({ length: Math.min(size, jobs - from) }, (_, at) => from + at);
  }
}

/** Which jobs were worked; a job that comes twice or that nobody enqueued ends the measurement. */
export class Worked {
  constructor(jobs) {
    this.seen = new Uint8Array(jobs);
    this.count = 0;
  }

  note(number) {
    if (this.seen[number] !== 0) throw new Error(`job ${number} was worked twice, or is none`);
    this.seen[number] = 1;
    this.count += 1;
  }

  get all() {
    return this.count === this.seen.length;
  }
}

/**
 * Measures a peer and prints one JSON object. `start(url, jobs)` answers { enqueue(), work(),
 * left(), end() }: work() returns when every job is acked, left() counts what is still queued.
 */
export async function measure(start) {
  const [url, count] = process.argv.slice(2);
  const jobs = Number(count);
  const worked = new Worked(jobs);
  const peer = await start(url, jobs, worked);
  const began = performance.now();
  await peer.enqueue();
  const enqueued = performance.now();
  await peer.work();
  const ended = performance.now();
  const left = await peer.left();
  await peer.end();
  if (!worked.all || left !== 0) {
    throw new Error(`${jobs} jobs were enqueued, ${worked.count} worked, and ${left} are left`);
  }
  const perSecond = (ms) => Math.round((jobs * 10_000) / ms) / 10;
  process.stdout.write(`${JSON.stringify({
    jobs_per_s: perSecond(ended - began),
    enqueue_per_s: perSecond(enqueued - began),
    lease_ack_per_s: perSecond(ended - enqueued),
    jobs,
  })}\n`);
}
