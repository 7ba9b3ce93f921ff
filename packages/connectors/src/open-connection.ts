import type { Connection } from "./connection.ts";

/** Where a database is. Passwords are values here, read by whoever owns the config; they appear in no message. */
export type Place =
  | { driver: "sqlite"; path: string }
  | { driver: "duckdb"; path: string }
  | { driver: "postgres"; url: string; schemas?: readonly string[] }
  | { driver: "mysql"; url: string; schemas?: readonly string[] };

/** Connects, so that what is wrong with a place is said now. Each database's library is loaded only where it is used. */
export async function openConnection(place: Place): Promise<Connection> {
  switch (place.driver) {
    case "sqlite": {
      const { SqliteConnection } = await import("./sqlite/sqlite-connection.ts");
      return await SqliteConnection.open(place.path);
    }
    case "postgres": {
      const { PostgresConnection } = await import("./postgres/postgres-connection.ts");
      return await PostgresConnection.open(place.url, place.schemas);
    }
    case "duckdb":
    case "mysql":
      throw new Error("not built yet");
  }
}
