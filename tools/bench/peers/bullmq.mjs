// BullMQ at its best: bulk adds, several workers with many jobs each, finished jobs removed, and no
// renewal of locks, since no job takes as long. Eight workers of 25 were the fastest here of 1 to
// 16 workers with 50 to 1000 jobs together: each has a connection of its own, so that more of
// what they say is read, and synced, in one turn of the server's loop.
// https://docs.bullmq.io/guide/workers/concurrency
import { Queue, Worker } from "bullmq";
import { measure, payload, slices } from "./jobs.mjs";

const name = "payments";
const bulk = 1000;
const workerCount = 8;
const concurrency = 25;

await measure(async (url, jobs, worked) => {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const queue = new Queue(name, {
    connection,
    defaultJobOptions: { removeOnComplete: true, attempts: 5 },
  });
  await queue.waitUntilReady();
  const workers = [];
  return {
    async enqueue() {
      const adding = [...slices(jobs, bulk)].map((numbers) =>
        queue.addBulk(numbers.map((number) => ({ name: "settle", data: payload(number) }))));
      await Promise.all(adding);
    },
    async work() {
      let acked = 0;
      const work = async (job) => worked.note(job.data.number);
      await new Promise((resolve, reject) => {
        for (let at = 0; at < workerCount; at += 1) {
          const worker = new Worker(name, work, {
            connection, concurrency, autorun: false, skipLockRenewal: true, skipStalledCheck: true,
          });
          workers.push(worker);
          // "completed" comes when the server has taken the ack.
          worker.on("completed", () => {
            acked += 1;
            if (acked === jobs) resolve();
          });
          worker.on("failed", (_, error) => reject(error));
          worker.on("error", reject);
          worker.run().catch(reject);
        }
      });
    },
    async left() {
      const counts = await queue.getJobCounts();
      return Object.values(counts).reduce((all, one) => all + one, 0);
    },
    async end() {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await queue.close();
    },
  };
});
