import { type Connection, ConnectionError, type TableName, type Value } from "@tandem/connectors";
import type { JoinPath } from "@tandem/relationships";
import type { TableFile } from "../catalogue/table-file.ts";
import { isNumberType, type JoinSql } from "./join-sql.ts";

export interface Inflation {
  position: number;
  table: TableName;
  reason: "fan-out" | "lookup";
  /** How often a row of the table appears in the joined rows, on average. */
  rowsFactor: number | null;
  /** Rows of the table that take part, and the joined rows. */
  rows: number | null;
  joinedRows: number | null;
  /** How many times too high the sum over a column is. */
  sumFactor: number | null;
  sumColumn: string | null;
  /** Counted in the database; otherwise estimated from the catalogue. */
  measured: boolean;
}

export interface Dropped {
  /** Position of the table whose rows have no match in the next one. */
  position: number;
  rows: number;
  of: number;
  measured: boolean;
}

export interface JoinEffects {
  inflated: Inflation[];
  dropped: Dropped[];
}

/** Larger tables are not counted: the answer must come in seconds. */
const MAX_ROWS = 5_000_000;
const TIME_MS = 5_000;

/** Counts what a path does to rows and sums, within a few seconds. Undefined if that is not possible. */
export async function measureJoin(
  connection: Connection,
  path: JoinPath,
  sql: JoinSql,
  files: readonly (TableFile | undefined)[],
  signal?: AbortSignal,
): Promise<JoinEffects | undefined> {
  if (files.some((file) => (file?.rows ?? 0) > MAX_ROWS)) return undefined;
  const deadline = performance.now() + TIME_MS;
  const ask = async (query: string): Promise<readonly Value[]> => {
    const timeoutMs = Math.max(1, deadline - performance.now());
    return (await connection.query(query, { timeoutMs, signal })).rows[0] ?? [];
  };
  try {
    const last = sql.tables.length - 1;
    const measures = files.map((file, position) => measureOf(file, path, position));
    const sums = measures.map((column, position) => (column ? sql.sum(sql.column(position, column)) : "NULL"));
    const [joinedRows, ...joinedSums] = (await ask(`SELECT count(*), ${sums.join(", ")} ${sql.chain()}`)).map(Number);
    const inflated: Inflation[] = [];
    for (const { position, table, reason } of path.inflated) {
      const matches = [
        ...(position > 0 ? [sql.hasMatch(position, 0, position - 1)] : []),
        ...(position < last ? [sql.hasMatch(position, position + 1, last)] : []),
      ];
      const own = `SELECT count(*), ${sums[position]} ${sql.chain(position, position)} WHERE ${matches.join(" AND ")}`;
      const [rows = 0, sum = 0] = (await ask(own)).map(Number);
      inflated.push({
        position,
        table,
        reason,
        rowsFactor: factor(joinedRows!, rows),
        rows,
        joinedRows: joinedRows!,
        sumFactor: measures[position] ? factor(joinedSums[position]!, sum) : null,
        sumColumn: measures[position] ?? null,
        measured: true,
      });
    }
    const dropped: Dropped[] = [];
    for (const position of path.steps.keys()) {
      const match = sql.hasMatch(position, position + 1, position + 1);
      const [of = 0, rows = 0] = (
        await ask(
          `SELECT count(*), coalesce(sum(CASE WHEN ${match} THEN 0 ELSE 1 END), 0) ${sql.chain(position, position)}`,
        )
      ).map(Number);
      if (rows > 0) dropped.push({ position, rows, of, measured: true });
    }
    return { inflated, dropped };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ConnectionError) return undefined;
    throw error;
  }
}

const factor = (joined: number, alone: number): number | null =>
  alone > 0 ? Math.round((joined / alone) * 100) / 100 : null;

/** The same from the catalogue's counts: rounded, and without sums. */
export function estimateJoin(path: JoinPath, files: readonly (TableFile | undefined)[]): JoinEffects {
  const rowsOf = (position: number) => files[position]?.rows;
  const inflated = path.inflated.map(({ position, table, reason }): Inflation => {
    const rowsFactor = reason === "fan-out" ? fanOut(path, position, rowsOf) : null;
    const unknown = { rows: null, joinedRows: null, sumFactor: null, sumColumn: null, measured: false };
    return { position, table, reason, rowsFactor, ...unknown };
  });
  const dropped = path.steps.flatMap(({ from, cardinality }, position): Dropped[] => {
    const of = rowsOf(position);
    if (cardinality === "one-to-many" || of === undefined) return [];
    const nulls = Math.max(
      ...from.columns.map(
        (name) => files[position]?.columns.find((column) => column.name === name)?.profile?.nulls ?? 0,
      ),
    );
    const rows = Math.round(of * nulls);
    return rows > 0 ? [{ position, rows, of, measured: false }] : [];
  });
  return { inflated, dropped };
}

function fanOut(path: JoinPath, first: number, rowsOf: (position: number) => number | undefined): number | null {
  let product = 1;
  for (const [i, { cardinality }] of path.steps.entries()) {
    if (i < first || cardinality !== "one-to-many") continue;
    const [from, to] = [rowsOf(i), rowsOf(i + 1)];
    if (!from || to === undefined) return null;
    product *= Math.max(1, to / from);
  }
  return Math.round(product * 10) / 10;
}

const AMOUNT =
  /amount|amt|price|total|cost|sum|value|revenue|sales|cents|salary|qty|quantity|units|balance|fee|betrag|preis|menge/i;
const IDENTIFIER = /(^|_)(id|no|nr|num|number|code|key|year|month|day|lat|lon|lng|zip|version)$|Id$|ID$|No$/;

/** A column worth a sum: a number that identifies nothing. */
function measureOf(file: TableFile | undefined, path: JoinPath, position: number): string | undefined {
  const joined = new Set([
    ...(path.steps[position]?.from.columns ?? []),
    ...(path.steps[position - 1]?.to.columns ?? []),
    ...(file?.primaryKey ?? []),
    ...(file?.joins ?? []).flatMap(({ columns }) => columns),
  ]);
  const numbers = (file?.columns ?? []).filter(
    ({ name, type, gone }) => !gone && isNumberType(type) && !joined.has(name) && !IDENTIFIER.test(name),
  );
  return (numbers.find(({ name }) => AMOUNT.test(name)) ?? numbers.find(({ type }) => !/int/i.test(type)))?.name;
}
