import type { Connection } from "./connection.ts";

/** Where a database is. Passwords are values here, read by whoever owns the config; they appear in no message. */
export type Place =
  | { driver: "sqlite"; path: string }
  | { driver: "duckdb"; path: string }
  | ({ driver: "postgres" } & ServerPlace)
  | ({ driver: "mysql" } & ServerPlace);

export interface ServerPlace {
  url: string;
  schemas?: readonly string[];
  /** The address as it is now: asked for when the database refuses the password that we have. */
  renew?: () => Promise<string>;
}

/** As long as we have a file of DuckDB open, nobody can write to it. */
const DUCKDB_IDLE_MS = 1_000;

/** Connects, so that what is wrong with a place is said now. Each database's library is loaded only where it is used. */
export async function openConnection(place: Place): Promise<Connection> {
  switch (place.driver) {
    case "sqlite": {
      const { FileConnection } = await import("./reader/file-connection.ts");
      const child = new URL("./sqlite/sqlite-child.ts", import.meta.url);
      return await FileConnection.open(place.path, { dialect: "sqlite", child });
    }
    case "duckdb": {
      const { FileConnection } = await import("./reader/file-connection.ts");
      const child = new URL("./duckdb/duckdb-child.ts", import.meta.url);
      return await FileConnection.open(place.path, { dialect: "duckdb", child, idleMs: DUCKDB_IDLE_MS });
    }
    case "postgres": {
      const { PostgresConnection } = await import("./postgres/postgres-connection.ts");
      return await PostgresConnection.open(place);
    }
    case "mysql": {
      const { MysqlConnection } = await import("./mysql/mysql-connection.ts");
      return await MysqlConnection.open(place);
    }
  }
}
