import { queryPostgres, startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { startPgBouncer, whyNoPgBouncer } from "@tandem/storage/testing/pgbouncer";
import { openPostgresQueue } from "../postgres/open-postgres-queue.ts";
import { queueContract } from "./queue.contract.ts";

/** It polls every second. */
const timing = { aWhileMs: 1_500, pauseSeconds: 1 };

/** The next heartbeat of its worker finds another attempt, as after a cut that was longer than the timeout. */
const silence = async (url: string, key: string): Promise<void> => {
  const set = "token = gen_random_uuid(), beat_at = '-infinity'";
  await queryPostgres(url, `update tandem_queue.run set ${set} where key = '${key}' and state = 'running'`);
};

queueContract(
  "postgres",
  async () => {
    const postgres = await startPostgres();
    let url = "";
    return {
      ...timing,
      open: async (options) => {
        url = await postgres.createDatabase();
        return openPostgresQueue(url, options);
      },
      silence: (key) => silence(url, key),
      [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
    };
  },
  whyNoPostgres(),
);

queueContract(
  "postgres behind PgBouncer in transaction mode",
  async () => {
    const postgres = await startPostgres();
    const pgbouncer = await startPgBouncer(await postgres.createDatabase(), { mode: "transaction" });
    let directUrl = "";
    return {
      ...timing,
      open: async (options) => {
        directUrl = await postgres.createDatabase();
        return openPostgresQueue(pgbouncer.pooled(directUrl), { ...options, directUrl });
      },
      silence: (key) => silence(directUrl, key),
      [Symbol.asyncDispose]: async () => {
        await pgbouncer[Symbol.asyncDispose]();
        await postgres[Symbol.asyncDispose]();
      },
    };
  },
  whyNoPostgres() ?? whyNoPgBouncer(),
);
