import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { openFile } from "../duckdb/open-file.ts";
import { openConnection } from "../open-connection.ts";
import { connectionContract } from "./connection.contract.ts";
import { DUCKDB, DUCKDB_SAMPLE } from "./duckdb-wording.ts";
import { until } from "./until.ts";
import type { ConnectorFixture } from "./connector-stage.ts";

connectionContract("DuckDB", async (): Promise<ConnectorFixture> => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-duckdb-"));
  const path = join(folder, "shop.db");
  const execute = async (statements: readonly string[]): Promise<void> => {
    // When the connection has been idle for a while, it lets others write.
    const instance = await until(() => DuckDBInstance.create(path).catch(() => undefined));
    const connection = await instance.connect();
    for (const statement of statements) await connection.run(statement);
    connection.disconnectSync();
    instance.closeSync();
  };
  await execute(DUCKDB_SAMPLE);
  return {
    dialect: "duckdb",
    wording: DUCKDB,
    open: () => openConnection({ driver: "duckdb", path }),
    execute,
    // To the byte, and no file beside it.
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
