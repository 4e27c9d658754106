// pg-boss at its best: bulk inserts, and batches that are fetched and completed whole, two at a
// time. https://github.com/timgit/pg-boss (insert, fetch with batchSize, complete with many ids)
import { PgBoss } from "pg-boss";
import { measure, payload, slices } from "./jobs.mjs";

const name = "payments";
const bulk = 1000;
const batchSize = 500;
const fetchers = 2;

await measure(async (url, jobs, worked) => {
  const boss = new PgBoss({
    connectionString: url, max: 10, supervise: false, schedule: false,
  });
  boss.on("error", (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(name);
  const fetchAll = async () => {
    for (;;) {
      const batch = await boss.fetch(name, { batchSize });
      if (batch.length === 0) return;
      for (const { data } of batch) worked.note(data.number);
      await boss.complete(name, batch.map(({ id }) => id));
    }
  };
  return {
    async enqueue() {
      for (const numbers of slices(jobs, bulk)) {
        await boss.insert(name, numbers.map((number) => ({ data: payload(number) })));
      }
    },
    async work() {
      await Promise.all(Array.from({ length: fetchers }, fetchAll));
    },
    async left() {
      return (await boss.fetch(name, { batchSize: 1 })).length;
    },
    async end() {
      await boss.stop({ graceful: false });
    },
  };
});
