import type { Connection } from "./connection.ts";

/** Where a database is. Passwords are values here, read by whoever owns the config; they appear in no message. */
export type Place =
  | { driver: "sqlite"; path: string }
  | { driver: "duckdb"; path: string }
  | { driver: "postgres"; url: string; schemas?: readonly string[] }
  | { driver: "mysql"; url: string; schemas?: readonly string[] };

export async function openConnection(_place: Place): Promise<Connection> {
  throw new Error("not built yet");
}
