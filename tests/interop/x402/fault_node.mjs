// Stands between a facilitator and the node and does to single JSON-RPC calls what a test says:
// the verbs of a bad node. Forwards everything else as it is, and keeps every transaction it saw.
//
// A fault is { method, verb, times, … }; the first that matches a call is spent on it.
//   delay { ms }      forwards at once, answers after `ms`
//   cut               forwards, then closes without an answer
//   swallow           never forwards, closes without an answer
//   hold              neither forwards nor answers until release() or the end of the connection
//   hold_answer       forwards, does not answer
//   twice             forwards it two times, answers with the first answer
//   status { code }   forwards, answers with that HTTP status and no JSON
//   refuse { code }   never forwards, answers with that HTTP status
//   error { error, forward }   answers with that JSON-RPC error, having forwarded it or not
//   result { result }          answers with that result instead of the node's
import { createServer } from "node:http";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class FaultNode {
  faults = [];
  sent = [];  // raw transactions, each time one was asked to be sent
  down = false;  // true: connections are closed at once

  static async open(url) {
    const self = new FaultNode();
    self.target = url;
    self.server = createServer((request, response) => {
      self.serve(request, response).catch(() => request.destroy());
    });
    await new Promise((resolve) => self.server.listen(0, "127.0.0.1", resolve));
    self.url = `http://127.0.0.1:${self.server.address().port}`;
    return self;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  fail(method, verb, more = {}) {
    this.faults.push({ method, verb, times: 1, ...more });
  }

  heal() {
    this.faults = [];
    this.down = false;
  }

  /** Whether a fault was met by a call at all; a test of a fault nobody met shows nothing. */
  met(method) {
    return this.spent?.has(method) ?? false;
  }

  faultFor(method) {
    const found = this.faults.find((one) => one.method === method && one.times > 0);
    if (!found) return null;
    found.times -= 1;
    (this.spent ??= new Set()).add(method);
    return found;
  }

  async forward(calls) {
    const answer = await fetch(this.target, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(calls),
    });
    return answer.json();
  }

  async serve(request, response) {
    if (this.down) return request.destroy();
    let text = "";
    for await (const part of request) text += part;
    const asked = JSON.parse(text);
    const calls = Array.isArray(asked) ? asked : [asked];
    const faults = new Map();
    for (const call of calls) {
      if (call.method === "eth_sendRawTransaction") this.sent.push(call.params[0]);
      const fault = this.faultFor(call.method);
      if (fault) faults.set(call.id, fault);
    }
    const verbs = (name) => [...faults.values()].find(({ verb }) => verb === name);
    if (verbs("swallow")) return request.destroy();
    if (verbs("hold")) return undefined;
    if (verbs("refuse")) return response.writeHead(verbs("refuse").code).end("no");
    const unforwarded = (fault) => fault?.verb === "error" && !fault.forward;
    const forwarded = calls.filter(({ id }) => !unforwarded(faults.get(id)));
    const answers = forwarded.length > 0 ? await this.forward(forwarded) : [];
    if (verbs("twice")) await this.forward(forwarded);
    if (verbs("cut")) return request.destroy();
    if (verbs("hold_answer")) return undefined;
    if (verbs("status")) return response.writeHead(verbs("status").code).end("no");
    if (verbs("delay")) await sleep(verbs("delay").ms);
    const told = calls.map(({ id }) => {
      const fault = faults.get(id);
      if (fault?.verb === "error") return { jsonrpc: "2.0", id, error: fault.error };
      if (fault?.verb === "result") return { jsonrpc: "2.0", id, result: fault.result };
      return answers.find((one) => one.id === id);
    });
    response.setHeader("Content-Type", "application/json");
    return response.end(JSON.stringify(Array.isArray(asked) ? told : told[0]));
  }
}
