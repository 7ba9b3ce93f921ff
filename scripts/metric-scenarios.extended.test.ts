import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, type Dialect, openConnection } from "@tandem/connectors";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { expect, test } from "vitest";
import { writeDuckDb } from "../packages/connectors/src/testing/duckdb.ts";
import { startMariaDb, whyNoMariaDb } from "../packages/connectors/src/testing/mariadb.ts";
import { prepare } from "../packages/metrics/src/testing/scenarios/scenario.ts";
import { checkWorld } from "../packages/metrics/src/testing/scenarios/check-world.ts";
import { WORLDS } from "../packages/metrics/src/testing/scenarios/worlds.ts";

const setupOf = (dialect: Dialect): string[] =>
  WORLDS.flatMap((world) => [
    `CREATE ${dialect === "mysql" ? "DATABASE" : "SCHEMA"} ${world.name}`,
    ...prepare(world, dialect, world.name).setup,
  ]);

async function problemsOf(connection: Connection): Promise<string[]> {
  const problems: string[] = [];
  for (const world of WORLDS) {
    problems.push(
      ...(await checkWorld(world, connection.dialect, world.name, async (sql) => (await connection.query(sql)).rows)),
    );
  }
  return problems;
}

test("scenarios give the rows of hand-written SQL on DuckDB", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-scenarios-"));
  try {
    const path = join(folder, "worlds.duckdb");
    await writeDuckDb(path, setupOf("duckdb"));
    await using connection = await openConnection({ driver: "duckdb", path });
    expect(await problemsOf(connection)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(whyNoPostgres())("scenarios give the rows of hand-written SQL on Postgres", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase(`${setupOf("postgres").join(";\n")};`);
  await using connection = await openConnection({ driver: "postgres", url });
  expect(await problemsOf(connection)).toEqual([]);
});

test.skipIf(whyNoMariaDb())("scenarios give the rows of hand-written SQL on MariaDB", async () => {
  await using server = await startMariaDb();
  const writer = await server.connect();
  for (const statement of setupOf("mysql")) await writer.query(statement);
  await writer.end();
  await using connection = await openConnection({ driver: "mysql", url: server.url("mysql") });
  expect(await problemsOf(connection)).toEqual([]);
});
