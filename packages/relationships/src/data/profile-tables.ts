import { inParallel } from "@tandem/protocol";
import {
  type Column,
  type Connection,
  ConnectionError,
  type Table,
  type TableName,
  type Value,
} from "@tandem/connectors";
import type { ColumnProfile, TableProfile } from "./profile.ts";
import { readDomains } from "./read-domains.ts";
import { type Sample, spreadSample } from "./spread-sample.ts";
import { verifyKeys } from "./verify-keys.ts";

export interface ProfileOptions {
  /** Sample size per table. */
  sampleRows?: number;
  concurrency?: number;
  /** Time limit per table. */
  timeoutMs?: number;
  /** For a catalogue: also reads all values of columns that have few, and finds the columns that are unique. */
  isForCatalogue?: boolean;
  /** Deadline for all tables, in milliseconds since the epoch; tables not reached are failures. */
  deadline?: number;
  signal?: AbortSignal;
  onProgress?: (done: number, all: number, table: TableName) => void;
}

/** A table that could not be profiled: it vanished, or its query failed. */
export interface ProfileFailure {
  table: TableName;
  code: string;
  message: string;
}

/** With more rows in total, samples get smaller, so that hundreds of tables take seconds. */
const ROWS_IN_ALL = 2_000_000;
const COLUMNS_AT_ONCE = 80;
const EXAMPLE_ROWS = 100;
const SAMPLES = 12;

/** A few queries per table. Failures are listed, and the rest continues. */
export async function profileTables(
  connection: Connection,
  tables: readonly Table[],
  options: ProfileOptions = {},
): Promise<{ profiles: TableProfile[]; failures: ProfileFailure[] }> {
  const { concurrency = 4, deadline = Infinity, isForCatalogue = false, signal, onProgress } = options;
  const sampleRows = options.sampleRows ?? Math.max(1_000, Math.min(10_000, Math.floor(ROWS_IN_ALL / tables.length)));
  const profiles: TableProfile[] = [];
  const failures: ProfileFailure[] = [];
  let done = 0;
  await inParallel(tables, concurrency, async (table) => {
    const name = { schema: table.schema, name: table.name };
    signal?.throwIfAborted();
    try {
      const timeoutMs = Math.min(options.timeoutMs ?? 10_000, deadline - Date.now());
      if (timeoutMs <= 0) throw new ConnectionError("query_timeout", "The time budget ended before it was checked.");
      profiles.push(await profileTable(connection, table, { sampleRows, isForCatalogue, timeoutMs, signal }));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionError)) throw error;
      failures.push({ table: name, code: error.code, message: error.message });
    }
    onProgress?.(++done, tables.length, name);
  });
  return { profiles, failures };
}

type Measure = "nulls" | "distinct" | "range" | "lengths";

/** Measures that the database supports for a kind: Postgres has no min of a boolean or UUID. */
function measuresOf({ kind }: Column, dialect: Connection["dialect"]): readonly Measure[] {
  if (kind === "integer" || kind === "decimal") return ["nulls", "distinct", "range"];
  if (kind === "text") return ["nulls", "distinct", "lengths"];
  if (kind === "other" && dialect === "sqlite") return ["nulls", "distinct", "range"];
  return kind === "json" || kind === "binary" || kind === "other" ? ["nulls"] : ["nulls", "distinct"];
}

async function profileTable(
  connection: Connection,
  table: Table,
  {
    sampleRows,
    isForCatalogue,
    ...limits
  }: { sampleRows: number; isForCatalogue: boolean; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<TableProfile> {
  const from = `${connection.quote(table.schema)}.${connection.quote(table.name)}`;
  const head = await connection.query(
    `SELECT count(*) FROM (SELECT 1 AS one FROM ${from} LIMIT ${sampleRows}) head`,
    limits,
  );
  const isLarge = Number(head.rows[0]![0]) >= sampleRows;
  const whole = isLarge ? await wholeTable(connection, table, from, limits) : undefined;
  const rows = whole?.rows ?? Math.max(Number(head.rows[0]![0]), isLarge ? (table.estimatedRows ?? 0) : 0);
  const first: Sample = (columns, size) => `SELECT ${columns.join(", ")} FROM ${from} LIMIT ${size}`;
  const isSpread = table.type === "table" && rows > sampleRows;
  const spread = isSpread ? await spreadSample(connection, { ...table, rows }, sampleRows, limits) : undefined;
  const sample = spread ?? first;
  const unreadable = new Map<string, ConnectionError>();
  const onUnreadable = ({ name }: Column, error: ConnectionError) => void unreadable.set(name, error);
  const examples = await byHalves(table.columns.filter(hasExamples), onUnreadable, (columns) =>
    exampleValues(connection, columns, sample, limits),
  );
  let sampled = 0;
  const measure = async (chunk: readonly Column[]): Promise<[string, ColumnProfile][]> => {
    const names = chunk.map(({ name }) => connection.quote(name));
    const asked = chunk.map((column) => measuresOf(column, connection.dialect));
    const sums = asked.flatMap((measures, at) =>
      measures.flatMap((each) => EXPRESSIONS[each].map((expression) => expression(names[at]!, connection.dialect))),
    );
    const { rows } = await connection.query(
      `SELECT ${["count(*)", ...sums].join(", ")} FROM (${sample(names.length > 0 ? names : ["1 AS one"], sampleRows)}) sample`,
      limits,
    );
    const [count, ...figures] = rows[0]!;
    sampled = Number(count);
    return chunk.map(({ name }, at) => {
      return [name, readColumn(name, asked[at]!, figures, sampled, examples.get(name) ?? [])];
    });
  };
  const columns = new Map<string, ColumnProfile>();
  for (let i = 0; i < Math.max(1, table.columns.length); i += COLUMNS_AT_ONCE) {
    const chunk = table.columns.slice(i, i + COLUMNS_AT_ONCE).filter(({ name }) => !unreadable.has(name));
    for (const [name, profile] of await byHalves(chunk, onUnreadable, measure)) columns.set(name, profile);
  }
  const [failure] = unreadable.values();
  if (failure && columns.size === 0) throw failure;
  const profile: TableProfile = {
    schema: table.schema,
    name: table.name,
    rows: Math.max(rows, sampled),
    rowsAreExact: !isLarge || whole !== undefined,
    sampled,
    columns: [...columns.values()].map((column) => ({ ...column, ...whole?.ranges.get(column.name) })),
    unreadable: [...unreadable].map(([name, { code, message }]) => ({ name, code, message })),
  };
  if (!isForCatalogue) return profile;
  const domains = await readDomains(connection, table, profile, {
    sample: (columns) => sample(columns, sampleRows),
    ...limits,
  });
  return {
    ...profile,
    columns: profile.columns.map((column) => ({ ...column, domain: domains.get(column.name) })),
    verifiedKeys: await verifyKeys(connection, table, profile, limits),
  };
}

/** Errors that may be about one column: others would meet every query. */
const ABOUT_COLUMNS: ReadonlySet<string> = new Set(["query_failed", "not_there"]);

/**
 * Asks for all columns at once. If the query fails, it asks for each half, so that a column that cannot be read loses its own
 * profile and not the table's.
 */
async function byHalves<T>(
  columns: readonly Column[],
  onUnreadable: (column: Column, error: ConnectionError) => void,
  ask: (columns: readonly Column[]) => Promise<Iterable<[string, T]>>,
): Promise<Map<string, T>> {
  try {
    return new Map(await ask(columns));
  } catch (error) {
    if (!(error instanceof ConnectionError) || !ABOUT_COLUMNS.has(error.code) || columns.length === 0) throw error;
    if (columns.length === 1) {
      onUnreadable(columns[0]!, error);
      return new Map();
    }
    const middle = Math.ceil(columns.length / 2);
    const first = await byHalves(columns.slice(0, middle), onUnreadable, ask);
    return new Map([...first, ...(await byHalves(columns.slice(middle), onUnreadable, ask))]);
  }
}

const hasExamples = ({ kind }: Column): boolean => kind !== "json" && kind !== "binary";

const EXPRESSIONS: Record<Measure, readonly ((column: string, dialect: Connection["dialect"]) => string)[]> = {
  nulls: [(column) => `count(${column})`],
  distinct: [(column) => `count(DISTINCT ${column})`],
  range: [(column) => `min(${column})`, (column) => `max(${column})`],
  lengths: [
    (column, dialect) => `min(${lengthOf(column, dialect)})`,
    (column, dialect) => `max(${lengthOf(column, dialect)})`,
  ],
};

/** Enums are text to us, but Postgres has no `length` for them. */
const lengthOf = (column: string, dialect: Connection["dialect"]): string =>
  dialect === "postgres" || dialect === "duckdb" ? `length(CAST(${column} AS varchar))` : `length(${column})`;

function readColumn(
  name: string,
  measures: readonly Measure[],
  figures: Value[],
  sampled: number,
  samples: readonly Value[],
): ColumnProfile {
  const take = () => figures.shift() ?? null;
  const filled = Number(take());
  const profile: ColumnProfile = {
    name,
    nulls: sampled ? 1 - filled / sampled : 0,
    distinct: 0,
    unique: false,
    samples,
  };
  if (measures.includes("distinct")) {
    profile.distinct = Number(take());
    profile.unique = profile.distinct === filled && filled > 0;
  }
  if (measures.includes("range")) [profile.min, profile.max] = [take(), take()];
  if (measures.includes("lengths")) profile.lengths = [Number(take()), Number(take())];
  return profile;
}

/** The most frequent values of a few rows, complete or not at all. */
async function exampleValues(
  connection: Connection,
  columns: readonly Column[],
  sample: Sample,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<[string, Value[]][]> {
  if (columns.length === 0) return [];
  const names = columns.map(({ name }) => connection.quote(name));
  const { rows } = await connection.query(sample(names, EXAMPLE_ROWS), limits);
  return columns.map(({ name }, at) => {
    const counts = new Map<Value, number>();
    for (const row of rows) if (row[at] !== null) counts.set(row[at]!, (counts.get(row[at]!) ?? 0) + 1);
    const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, SAMPLES);
    return [name, frequent.map(([value]) => value)];
  });
}

/** Size and number ranges of a table larger than its sample. Undefined if that is slow. */
async function wholeTable(
  connection: Connection,
  table: Table,
  from: string,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<{ rows: number; ranges: Map<string, { min: Value; max: Value }> } | undefined> {
  const numbers = table.columns.filter(({ kind }) => kind === "integer").slice(0, COLUMNS_AT_ONCE);
  const sums = numbers.flatMap(({ name }) =>
    EXPRESSIONS.range.map((expression) => expression(connection.quote(name), connection.dialect)),
  );
  try {
    const { rows } = await connection.query(`SELECT ${["count(*)", ...sums].join(", ")} FROM ${from}`, limits);
    const [count, ...figures] = rows[0]!;
    const ranges = numbers.map(({ name }, i) => [name, { min: figures[2 * i]!, max: figures[2 * i + 1]! }] as const);
    return { rows: Number(count), ranges: new Map(ranges) };
  } catch (error) {
    if (error instanceof ConnectionError && error.code === "query_timeout") return undefined;
    throw error;
  }
}
