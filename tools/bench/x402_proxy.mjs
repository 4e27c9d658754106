// Stands between a facilitator and the node, and counts: HTTP requests, and JSON-RPC calls, each
// element of a batch as one. Passes bytes on as they come; a process of its own (fork), so that
// its time is nobody else's.
//
//   in:  { open: URL }            out: { port }      one port a facilitator
//   in:  { count: PORT }          out: { requests, calls, methods }    since the start
import { createServer, connect } from "node:net";
import process from "node:process";

const counters = new Map();
const wanted = /POST [^ ]* HTTP\/1|"method"\s*:\s*"(\w+)"/g;
// A match may be cut by the end of a chunk; nothing that matches is longer than this.
const longest = 80;

function countInto(counter) {
  let rest = "";
  return (chunk) => {
    const text = rest + chunk.toString("latin1");
    let end = 0;
    for (const found of text.matchAll(wanted)) {
      end = found.index + found[0].length;
      if (found[1] === undefined) {
        counter.requests += 1;
      } else {
        counter.calls += 1;
        counter.methods[found[1]] = (counter.methods[found[1]] ?? 0) + 1;
      }
    }
    rest = text.slice(Math.max(end, text.length - longest));
  };
}

function open(url) {
  const { hostname, port } = new URL(url);
  const counter = { requests: 0, calls: 0, methods: {} };
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    near.setNoDelay(true);
    near.on("data", countInto(counter));
    near.pipe(far).pipe(near);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
  });
  server.listen(0, "127.0.0.1", () => {
    counters.set(server.address().port, counter);
    process.send({ port: server.address().port });
  });
}

process.on("message", (message) => {
  if (message.open) open(message.open);
  else process.send(counters.get(message.count));
});
process.on("disconnect", () => process.exit(0));
