// The purchases of tests/interop/x402 and what must be true of each. Owns no process. What needs a
// package of npm's comes from tools/scenes, beside which they are installed.
import { sleep } from "../../../tools/scenes/holdfast.mjs";
import { priceOf } from "../../../tools/scenes/x402/shop.mjs";
import { network, networkV1, transfers } from "../../../tools/scenes/x402/world.mjs";

const same = (one, other) => one.toLowerCase() === other.toLowerCase();

/** One row a purchase; its id is the thing's number, which makes its price. */
export const purchases = () => [
  { id: "1", what: "version 2, ordinary account", who: "ordinary", route: "eip3009" },
  { id: "2", what: "version 1, ordinary account", who: "ordinary", route: "v1" },
  { id: "3", what: "version 2, contract wallet", who: "wallet", route: "eip3009" },
  { id: "4", what: "version 1, contract wallet", who: "wallet", route: "v1" },
  { id: "5", what: "version 2, Permit2", who: "permitting", route: "permit2" },
];

/** Sentences on what is wrong with one purchase's answer; none: all is well. */
export function wrongWithAnswer(row, answer, payer) {
  const wrong = [];
  const insist = (holds, sentence) => holds || wrong.push(`${row.what}: ${sentence}`);
  insist(answer.status === 200, `the shop answered ${answer.status}: ${answer.reason}`);
  if (answer.status !== 200) return wrong;
  const { settled } = answer;
  insist(answer.body?.thing === row.id, "another thing than was bought");
  insist(settled?.success === true, "the settlement header tells of no success");
  insist(/^0x[0-9a-f]{64}$/.test(settled?.transaction ?? ""), "no transaction hash is told");
  insist(settled?.network === (row.route === "v1" ? networkV1 : network),
    `the settlement names the network "${settled?.network}"`);
  insist(settled?.payer?.toLowerCase() === payer.toLowerCase(), "another payer is named");
  return wrong;
}

/** The chain alone: each purchase charged exactly once, and nobody else anything. */
export async function wrongOnChain(world, rows, payTo) {
  const wrong = [];
  const all = await transfers(world);
  for (const row of rows) {
    const found = all.filter((one) => one.value === BigInt(priceOf(row.id)));
    const exact = found.length === 1 && same(found[0].to, payTo) &&
      same(found[0].from, row.payer) && found[0].hash === row.hash;
    if (!exact) wrong.push(`${row.what}: ${found.length} transfers of its price, or another one`);
  }
  if (all.length !== rows.length) {
    wrong.push(`${all.length} transfers on the chain for ${rows.length} purchases`);
  }
  return wrong;
}

/** Every payment of holdfast's books is settled, by the transaction the customer was told. */
export async function wrongInBooks(holdfast, rows) {
  let page = { payment_intents: [] };
  for (let i = 0; i < 150; ++i) {
    page = await holdfast.insist("GET", "/v1/payment_intents?limit=500");
    if (page.payment_intents.every(({ state }) => state === "settled")) break;
    await sleep(100);
  }
  const wrong = [];
  for (const row of rows) {
    const found = page.payment_intents.filter(({ amount }) => amount === priceOf(row.id));
    const good = found.length === 1 && found[0].state === "settled" &&
      found[0].tx_hash === row.hash;
    if (!good) {
      const told = found.map(({ id, state, tx_hash }) => `${id} ${state} ${tx_hash}`).join(", ");
      wrong.push(`${row.what}: in the books ${told || "is nothing"}; told was ${row.hash}`);
    }
  }
  if (page.payment_intents.length !== rows.length) {
    wrong.push(`${page.payment_intents.length} payments in the books for ${rows.length} purchases`);
  }
  return wrong;
}
