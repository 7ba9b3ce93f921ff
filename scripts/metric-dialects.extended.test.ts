import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, type Dialect, openConnection } from "@tandem/connectors";
import { buildModel, compileQuery, MetricError } from "@tandem/metrics";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { expect, inject, test } from "vitest";
import { writeDuckDb } from "../packages/connectors/src/testing/duckdb.ts";
import { startMariaDb, whyNoMariaDb } from "../packages/connectors/src/testing/mariadb.ts";
import { differences } from "../packages/metrics/src/testing/differences.ts";
import { oracle } from "../packages/metrics/src/testing/oracle.ts";
import { catalogued, randomCase } from "../packages/metrics/src/testing/random-case.ts";
import { NOW } from "../packages/metrics/src/testing/scenarios/scenario.ts";

const SEEDS = Array.from({ length: inject("soak") ? 5_000 : 150 }, (_, at) => 10_000 + at);
const schemaOf = (seed: number): string => `c${seed}`;

const setupOf = (dialect: Dialect): string[] =>
  SEEDS.flatMap((seed) => [
    `CREATE ${dialect === "mysql" ? "DATABASE" : "SCHEMA"} ${schemaOf(seed)}`,
    ...catalogued(randomCase(seed), dialect, schemaOf(seed)).setup,
  ]);

/** Compiles and runs all cases on a database, through the connection that users have. Returns how many have an answer. */
async function compareAll(connection: Connection): Promise<number> {
  let compared = 0;
  for (const seed of SEEDS) {
    const given = randomCase(seed);
    const { tables, files } = catalogued(given, connection.dialect, schemaOf(seed));
    const model = buildModel({ dialect: connection.dialect, files, tables });
    expect(model.broken).toEqual([]);
    let sql: string;
    try {
      ({ sql } = compileQuery(model, given.query, NOW));
    } catch (error) {
      if (error instanceof MetricError) continue;
      throw error;
    }
    const { rows } = await connection.query(sql).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${String(error)}\n${sql}`);
    });
    const wrong = differences(rows, oracle(given)!, given.query.by.length);
    expect(wrong, `seed ${seed}: ${JSON.stringify(given.query)}\n${sql}`).toEqual([]);
    compared += 1;
  }
  return compared;
}
const ENOUGH = SEEDS.length / 2;

test("metrics give the right numbers on DuckDB", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-metrics-"));
  try {
    const path = join(folder, "cases.duckdb");
    await writeDuckDb(path, setupOf("duckdb"));
    await using connection = await openConnection({ driver: "duckdb", path });
    expect(await compareAll(connection)).toBeGreaterThan(ENOUGH);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(whyNoPostgres())("metrics give the right numbers on Postgres", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase(`${setupOf("postgres").join(";\n")};`);
  await using connection = await openConnection({ driver: "postgres", url });
  expect(await compareAll(connection)).toBeGreaterThan(ENOUGH);
});

test.skipIf(whyNoMariaDb())("metrics give the right numbers on MariaDB", async () => {
  await using server = await startMariaDb();
  const writer = await server.connect();
  for (const statement of setupOf("mysql")) await writer.query(statement);
  await writer.end();
  await using connection = await openConnection({ driver: "mysql", url: server.url("mysql") });
  expect(await compareAll(connection)).toBeGreaterThan(ENOUGH);
});
