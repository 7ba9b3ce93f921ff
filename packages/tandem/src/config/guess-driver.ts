import type { ConnectionConfig } from "@tandem/protocol";
import { open } from "node:fs/promises";
import { extname } from "node:path";

type Driver = ConnectionConfig["driver"];

const BY_SCHEME: Record<string, Driver> = {
  "postgres:": "postgres",
  "postgresql:": "postgres",
  "mysql:": "mysql",
  "mariadb:": "mysql",
};
const BY_EXTENSION: Record<string, Driver> = {
  ".sqlite": "sqlite",
  ".sqlite3": "sqlite",
  ".db": "sqlite",
  ".db3": "sqlite",
  ".duckdb": "duckdb",
  ".ddb": "duckdb",
};

/** Guesses the driver from the URL scheme, the file's first bytes or its name. */
export async function guessDriver(place: string, file: string): Promise<Driver | undefined> {
  const scheme = /^[a-z]+:(?=\/\/)/i.exec(place)?.[0].toLowerCase();
  if (scheme !== undefined) return BY_SCHEME[scheme];
  const beginning = await firstBytes(file, 16);
  if (beginning?.startsWith("SQLite format 3")) return "sqlite";
  if (beginning?.slice(8, 12) === "DUCK") return "duckdb";
  return BY_EXTENSION[extname(file).toLowerCase()];
}

async function firstBytes(file: string, count: number): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
