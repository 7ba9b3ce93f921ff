import { type Connection, openConnection } from "@tandem/connectors";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inject } from "vitest";
import { findRelationships, type FindInput, type Findings } from "../find-relationships.ts";
import { profileTables } from "../data/profile-tables.ts";
import type { Relationship } from "../relationship.ts";

/** A query may have to wait for the start of a process that reads the file, which takes seconds on a busy machine. */
export const PATIENT = { timeoutMs: 60_000 * inject("slowness") };

/** A temporary SQLite file created by statements, with a connection. */
export async function sqliteDatabase(sql: string): Promise<{ connection: Connection; file: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-joins-"));
  const file = join(folder, "test.sqlite");
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  database.exec(sql);
  database.close();
  const connection = await openConnection({ driver: "sqlite", path: file });
  return {
    connection,
    file,
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function findIn(connection: Connection, more: Partial<FindInput> = {}): Promise<Findings> {
  const tables = await connection.structure();
  const { profiles } = await profileTables(connection, tables, PATIENT);
  const options = { queryTimeoutMs: PATIENT.timeoutMs, ...more.options };
  return findRelationships({ connection, tables, profiles, ...more, options });
}

/** `orders.customer_id → customers.id` */
export const shown = ({ from, to }: Relationship): string =>
  [from, to].map(({ table, columns }) => `${table.name}.${columns.join("+")}`).join(" → ");

export const accepted = ({ relationships }: Findings): string[] =>
  relationships
    .filter(({ status }) => status === "accepted")
    .map(shown)
    .toSorted();

/** An `INSERT` of so many rows, made of SQL expressions over `n`, which counts from 1. */
export const fill = (table: string, rows: number, ...values: string[]): string =>
  `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows}) INSERT INTO "${table}" SELECT ${values.join(", ")} FROM c;`;
