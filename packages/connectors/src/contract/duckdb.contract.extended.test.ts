import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { openFile } from "../duckdb/open-file.ts";
import { openConnection } from "../open-connection.ts";
import { connectionContract } from "./connection.contract.ts";
import { DUCKDB, DUCKDB_SAMPLE } from "./duckdb-samples.ts";
import { until } from "./until.ts";
import type { ConnectorFixture } from "./connector-stage.ts";

connectionContract("DuckDB", async (): Promise<ConnectorFixture> => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-duckdb-"));
  const path = join(folder, "shop.db");
  const execute = async (statements: readonly string[]): Promise<void> => {
    // An idle connection releases the file, so that other processes can write.
    const instance = await until(() => DuckDBInstance.create(path).catch(() => undefined));
    const connection = await instance.connect();
    for (const statement of statements) await connection.run(statement);
    connection.disconnectSync();
    instance.closeSync();
  };
  await execute(DUCKDB_SAMPLE);
  return {
    dialect: "duckdb",
    samples: DUCKDB,
    open: () => openConnection({ driver: "duckdb", path }),
    execute,
    // Compares the file byte by byte, and that no other file appears.
    fingerprint: async () =>
      [createHash("sha256").update(readFileSync(path)).digest("hex"), ...readdirSync(folder)].join(),
    bypass: async (sql) => {
      const connection = await openFile(path);
      try {
        return await (await connection.run(sql)).getRowsJson();
      } finally {
        connection.disconnectSync();
      }
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
});
