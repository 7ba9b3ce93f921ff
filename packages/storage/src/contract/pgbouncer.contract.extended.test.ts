import { openStore } from "../open-store.ts";
import { startPgBouncer, whyNoPgBouncer } from "../testing/pgbouncer.ts";
import { postgresFixture } from "../testing/postgres-fixture.ts";
import { startPostgres, whyNoPostgres } from "../testing/postgres.ts";
import { storeContract } from "./store.contract.ts";

storeContract(
  "postgres behind PgBouncer in transaction mode",
  async () => {
    const postgres = await startPostgres();
    const fixture = postgresFixture(postgres);
    const pgbouncer = await startPgBouncer(await postgres.createDatabase(), { mode: "transaction" });
    return {
      ...fixture,
      open: (url) => openStore(pgbouncer.pooled(url), { directUrl: url }),
      [Symbol.asyncDispose]: async () => {
        await pgbouncer[Symbol.asyncDispose]();
        await fixture[Symbol.asyncDispose]();
      },
    };
  },
  whyNoPostgres() ?? whyNoPgBouncer(),
);
