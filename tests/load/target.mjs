// See target.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  endAll, measure, startFakeNode, startServer, tokenVariable,
} from "../../tools/bench/run_programs.mjs";

const built = process.argv[2];
const load = join(built, "holdfast-load");
const folder = mkdtempSync(join(tmpdir(), "holdfast-target-"));
const payments = 150;
try {
  const node = await startFakeNode(load);
  const server = await startServer({
    binary: join(built, "holdfast"), folder: join(folder, "server"), rpcUrl: node.url,
    inFlight: payments, accounts: 4,
  });
  process.env[tokenVariable] = server.token;
  for (const method of ["native", "erc20", "authorization"]) {
    const told = await measure(load, ["--target", server.url, "--token-env", tokenVariable,
      "--chain", node.url, "--method", method, "--payments", String(payments),
      "--in-flight", "50"]);
    assert.equal(told.exit_code, 0, method);
    assert.equal(told.settled, payments, method);
    assert.equal(told.lost, 0, method);
    assert.equal(told.doubled, 0, method);
    assert.equal(told.commits, null, "what another process did is not known");
  }
  await server.stop();
  await node.stop();
  console.log("payments of each method went through the server");
} finally {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
}
