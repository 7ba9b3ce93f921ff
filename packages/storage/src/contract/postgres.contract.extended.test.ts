import { postgresFixture } from "../testing/postgres-fixture.ts";
import { startPostgres, whyNoPostgres } from "../testing/postgres.ts";
import { storeContract } from "./store.contract.ts";

storeContract("postgres", async () => postgresFixture(await startPostgres()), whyNoPostgres());
