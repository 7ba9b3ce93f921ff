import { createHash } from "node:crypto";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { Client } from "pg";
import { expect, test } from "vitest";
import { openConnection } from "../open-connection.ts";
import { PostgresSession } from "../postgres/postgres-session.ts";
import { serverAddress } from "../server-address.ts";
import { connectionContract } from "./connection.contract.ts";
import { POSTGRES, POSTGRES_SAMPLE } from "./postgres-samples.ts";
import type { ConnectorFixture } from "./connector-stage.ts";

async function openFixture(): Promise<ConnectorFixture> {
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  // The role has all rights, so rights are not the reason why writes fail.
  const client = new Client(url);
  await client.connect();
  for (const statement of POSTGRES_SAMPLE) await client.query(statement);
  const address = serverAddress(url, ["postgres:"], 5432);
  return {
    dialect: "postgres",
    samples: POSTGRES,
    open: () => openConnection({ driver: "postgres", url }),
    execute: async (statements) => void (await client.query(statements.join(";\n"))),
    fingerprint: async () => {
      const { rows } = await client.query<{ name: string }>(
        "select oid::regclass::text as name from pg_class where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace order by 1",
      );
      const hash = createHash("sha256");
      for (const { name } of rows) hash.update(JSON.stringify([name, (await client.query(`table ${name}`)).rows]));
      const state = await client.query(
        "select last_value, is_called, (select count(*) from pg_largeobject_metadata), (select count(*) from pg_roles) from numbers",
      );
      return hash.update(JSON.stringify(state.rows)).digest("hex");
    },
    bypass: async (sql) => {
      const session = await PostgresSession.open(url, address);
      try {
        return await session.reading(10_000, () => session.ask(sql));
      } finally {
        await session.end();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await postgres[Symbol.asyncDispose]();
    },
  };
}

connectionContract("Postgres", openFixture, whyNoPostgres());

test.skipIf(whyNoPostgres() !== undefined)("the key of a table that others inherit from is not unique", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const client = new Client(url);
  await client.connect();
  await client.query(
    "create table visits (id int primary key); create table late_visits () inherits (visits); create table days (id int primary key) partition by range (id); create table first_days partition of days for values from (0) to (9)",
  );
  await client.end();
  await using connection = await openConnection({ driver: "postgres", url });
  const keys = (await connection.structure()).map(({ name, primaryKey }) => [name, primaryKey]);
  expect(Object.fromEntries(keys)).toEqual({ visits: [], late_visits: [], days: ["id"] });
});
