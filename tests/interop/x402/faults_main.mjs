// Runs the faults of faults.mjs one after another against one holdfast; see run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { faults } from "./faults.mjs";
import { Rig } from "./fault_rig.mjs";

const [binary, wanted = ""] = process.argv.slice(2);
const cleanUp = [];
const folder = mkdtempSync(join(tmpdir(), "holdfast-x402-"));
const rig = new Rig({ binary, folder, cleanUp });
const chosen = Object.entries(faults).filter(([name]) => name.includes(wanted));

let good = false;
try {
  await rig.start();
  for (const [name, run] of chosen) {
    const before = rig.wrong.length;
    const began = Date.now();
    rig.current = name;
    await run(rig);
    rig.node.heal();
    const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(5);
    console.log(`${rig.wrong.length === before ? "well " : "WRONG"} ${seconds} s  ${name}`);
  }
  await rig.checkAll(chosen.length);
  const code = await rig.holdfast.stop();
  rig.insist(code === 0, `the drain ended with ${code}`);
  good = rig.wrong.length === 0 && chosen.length > 0;
} catch (error) {
  rig.wrong.push(`${rig.current}: ${error.stack}`);
}
for (const sentence of rig.wrong) console.log(`wrong: ${sentence}`);
console.log(good ? `${chosen.length} faults ended well` : `log and store are in ${folder}`);
for (const step of cleanUp.reverse()) step();
if (good) rmSync(folder, { recursive: true });
process.exit(good ? 0 : 1);
