import { DuckDBInstance } from "@duckdb/node-api";

/** Runs statements on a DuckDB file, which is created if it is missing, and closes it. */
export async function writeDuckDb(path: string, statements: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const writer = await instance.connect();
  try {
    for (const statement of statements) await writer.run(statement);
  } finally {
    writer.closeSync();
    instance.closeSync();
  }
}
