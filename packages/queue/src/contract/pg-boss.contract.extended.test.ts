import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { openPgBossQueue } from "../pg-boss/open-pg-boss-queue.ts";
import { queueContract } from "./queue.contract.ts";

queueContract(
  "pg-boss",
  async () => {
    const postgres = await startPostgres();
    return {
      open: async (options) => openPgBossQueue(await postgres.createDatabase(), options),
      // It polls every second.
      aWhileMs: 1_500,
      pauseSeconds: 1,
      [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
    };
  },
  whyNoPostgres(),
);
