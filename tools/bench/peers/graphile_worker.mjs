// graphile-worker with the settings its own figures were made with: batches of 500 in a local
// queue, 24 jobs at once, acks in batches. https://worker.graphile.org/docs/performance
import { Logger, makeWorkerUtils, runOnce } from "graphile-worker";
import pg from "pg";
import { measure, payload, slices } from "./jobs.mjs";

const bulk = 1000;
const silent = new Logger(() => () => {});

await measure(async (url, jobs, worked) => {
  const pool = new pg.Pool({ connectionString: url, max: 25 });
  const utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
  await utils.migrate();
  return {
    async enqueue() {
      for (const numbers of slices(jobs, bulk)) {
        await utils.addJobs(numbers.map((number) => (
          { identifier: "settle", payload: payload(number), maxAttempts: 5 })));
      }
    },
    async work() {
      await runOnce({
        pgPool: pool,
        logger: silent,
        noHandleSignals: true,
        preset: {
          worker: {
            concurrentJobs: 24,
            maxPoolSize: 25,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        taskList: { settle: async ({ number }) => worked.note(number) },
      });
    },
    async left() {
      const { rows } = await pool.query("SELECT count(*)::int AS jobs FROM graphile_worker.jobs");
      return rows[0].jobs;
    },
    async end() {
      await utils.release();
      await pool.end();
    },
  };
});
