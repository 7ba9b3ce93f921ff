import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { startPgBouncer, whyNoPgBouncer } from "@tandem/storage/testing/pgbouncer";
import { openPostgresQueue } from "../postgres/open-postgres-queue.ts";
import { queueContract } from "./queue.contract.ts";

/** It polls every second. */
const timing = { aWhileMs: 1_500, pauseSeconds: 1 };

queueContract(
  "postgres",
  async () => {
    const postgres = await startPostgres();
    return {
      ...timing,
      open: async (options) => openPostgresQueue(await postgres.createDatabase(), options),
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
    return {
      ...timing,
      open: async (options) => {
        const directUrl = await postgres.createDatabase();
        return openPostgresQueue(pgbouncer.pooled(directUrl), { ...options, directUrl });
      },
      [Symbol.asyncDispose]: async () => {
        await pgbouncer[Symbol.asyncDispose]();
        await postgres[Symbol.asyncDispose]();
      },
    };
  },
  whyNoPostgres() ?? whyNoPgBouncer(),
);
