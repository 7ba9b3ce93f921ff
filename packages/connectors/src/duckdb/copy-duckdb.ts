import { DuckDBInstance } from "@duckdb/node-api";
import { z } from "zod";
import type { CopyStatement } from "../copy-statement.ts";

const names = z.array(z.array(z.string()));

/** Copies tables without their constraints, which would refuse to remove a row that others refer to. */
export async function copyFile(path: string, target: string, statements: readonly CopyStatement[]): Promise<void> {
  const instance = await DuckDBInstance.create(target);
  const connection = await instance.connect();
  try {
    await connection.run(`ATTACH '${path.replaceAll("'", "''")}' AS original (READ_ONLY)`);
    const tables = await connection.runAndReadAll(
      "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'original' AND NOT internal",
    );
    for (const row of names.parse(tables.getRowsJson())) {
      const [schema, table] = row.map((name) => `"${name.replaceAll('"', '""')}"`);
      await connection.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await connection.run(`CREATE TABLE ${schema}.${table} AS SELECT * FROM original.${schema}.${table}`);
    }
    const views = await connection.runAndReadAll(
      "SELECT sql FROM duckdb_views() WHERE database_name = 'original' AND NOT internal",
    );
    for (const [sql = ""] of names.parse(views.getRowsJson())) {
      // A statement on a view that cannot be made again fails on the copy, and says so.
      await connection.run(sql).catch(() => undefined);
    }
    await connection.run("DETACH original");
    for (const { sql, parameters } of statements) await connection.run(sql, [...parameters]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
