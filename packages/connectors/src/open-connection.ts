import { createRequire } from "node:module";
import manifest from "../package.json" with { type: "json" };
import { ConnectionError } from "./connection-error.ts";
import type { DatabaseLocation } from "./database-location.ts";
import type { Connection } from "./connection.ts";

/** No other process can write to a DuckDB file while it is open, so close it quickly. */
const DUCKDB_IDLE_MS = 1_000;

/** Connects at once, so that errors are reported now. Each driver is loaded on demand. */
export async function openConnection(location: DatabaseLocation): Promise<Connection> {
  switch (location.driver) {
    case "sqlite": {
      const { FileConnection } = await import("./reader/file-connection.ts");
      const child = new URL("./sqlite/sqlite-child.ts", import.meta.url);
      return await FileConnection.open(location.path, { dialect: "sqlite", child });
    }
    case "duckdb": {
      requireDuckdb();
      const { FileConnection } = await import("./reader/file-connection.ts");
      const child = new URL("./duckdb/duckdb-child.ts", import.meta.url);
      return await FileConnection.open(location.path, { dialect: "duckdb", child, idleMs: DUCKDB_IDLE_MS });
    }
    case "postgres": {
      const { PostgresConnection } = await import("./postgres/postgres-connection.ts");
      return await PostgresConnection.open(location);
    }
    case "mysql": {
      const { MysqlConnection } = await import("./mysql/mysql-connection.ts");
      return await MysqlConnection.open(location);
    }
  }
}

/** DuckDB takes 70 MB, so the published package leaves it to its users to install. */
function requireDuckdb(): void {
  try {
    createRequire(import.meta.url).resolve("@duckdb/node-api");
  } catch (error) {
    throw new ConnectionError("connection_failed", "DuckDB is not installed.", {
      cause: error,
      fix: `Install it beside Tandem: npm install @duckdb/node-api@${manifest.dependencies["@duckdb/node-api"]}`,
    });
  }
}
