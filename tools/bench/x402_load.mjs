// The customers and shops of the x402 benchmark: signs the payments beforehand, then asks a
// facilitator for them, so many at once. A process of its own (fork): nothing of it is counted as
// the facilitator's.
//
//   in:  { prepare: { count, chainId, asset, payTo, amount } }     out: { prepared: count }
//   in:  { run: { act, url, key, inFlight, seconds? } }
//        asks for all that was prepared; with `seconds`, over and over for so long
//   out: { latencies (ms), failures: { reason: times }, elapsed (ms) }
import { Agent, request } from "node:http";
import process from "node:process";
import { account } from "../scenes/anvil.mjs";
import { signPayment } from "../scenes/x402/payment.mjs";

const payer = account(4);
let bodies = [];

/** One exchange; the answer as { status, text }, or an exception. */
function ask(agent, url, key, text) {
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
      ...(key ? { Authorization: `Bearer ${key}` } : {}),
    };
    const asked = request(url, { method: "POST", agent, headers, timeout: 90_000 }, (answer) => {
      let said = "";
      answer.setEncoding("utf8");
      answer.on("data", (part) => (said += part));
      answer.on("end", () => resolve({ status: answer.statusCode, text: said }));
      answer.on("error", reject);
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer in 90 s")));
    asked.on("error", reject);
    asked.end(text);
  });
}

/** Why it failed, or null. */
function failure({ status, text }) {
  let said;
  try {
    said = JSON.parse(text);
  } catch {
    return `status ${status}`;
  }
  if (said.success === true || said.isValid === true) return null;
  return said.errorReason ?? said.invalidReason ?? `status ${status}`;
}

async function run({ act, url, key, inFlight, seconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight, noDelay: true });
  const latencies = [];
  const failures = {};
  const began = performance.now();
  const until = seconds === undefined ? Infinity : began + seconds * 1000;
  let next = 0;
  const lane = async () => {
    while (performance.now() < until) {
      if (seconds === undefined && next >= bodies.length) return;
      const text = bodies[next++ % bodies.length];
      const asked = performance.now();
      const reason = await ask(agent, `${url}/${act}`, key, text)
        .then(failure, (error) => error.code ?? error.message);
      if (reason === null) latencies.push(performance.now() - asked);
      else failures[reason] = (failures[reason] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const elapsed = performance.now() - began;
  agent.destroy();
  return { latencies, failures, elapsed };
}

process.on("message", async (message) => {
  if (message.prepare) {
    bodies = [];
    for (let i = 0; i < message.prepare.count; ++i) {
      bodies.push(JSON.stringify(await signPayment({ payer, ...message.prepare })));
    }
    process.send({ prepared: bodies.length });
  } else {
    process.send(await run(message.run));
  }
});
process.on("disconnect", () => process.exit(0));
