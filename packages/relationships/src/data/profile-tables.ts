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
import { type Sample, spreadSample } from "./spread-sample.ts";

export interface ProfileOptions {
  /** Sample size per table. */
  sampleRows?: number;
  concurrency?: number;
  /** Time limit per table. */
  timeoutMs?: number;
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
  const { concurrency = 4, deadline = Infinity, signal, onProgress } = options;
  const sampleRows = options.sampleRows ?? Math.max(1_000, Math.min(10_000, Math.floor(ROWS_IN_ALL / tables.length)));
  const profiles: TableProfile[] = [];
  const failures: ProfileFailure[] = [];
  let done = 0;
  await inParallel(tables, concurrency, async (table) => {
    const name = { schema: table.schema, name: table.name };
    signal?.throwIfAborted();
    try {
      const timeoutMs = Math.min(options.timeoutMs ?? 10_000, deadline - Date.now());
      if (timeoutMs <= 0) throw new ConnectionError("query_timeout", "There was no time left to look at it.");
      profiles.push(await profileTable(connection, table, { sampleRows, timeoutMs, signal }));
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
  { sampleRows, ...limits }: { sampleRows: number; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<TableProfile> {
  const from = `${connection.quote(table.schema)}.${connection.quote(table.name)}`;
  const columns = new Map<string, ColumnProfile>();
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
  const examples = await exampleValues(connection, table, sample, limits);
  let sampled = 0;
  for (let i = 0; i < Math.max(1, table.columns.length); i += COLUMNS_AT_ONCE) {
    const chunk = table.columns.slice(i, i + COLUMNS_AT_ONCE);
    const names = chunk.map(({ name }) => connection.quote(name));
    const asked = chunk.map((column) => measuresOf(column, connection.dialect));
    const sums = asked.flatMap((measures, at) =>
      measures.flatMap((measure) => EXPRESSIONS[measure].map((expression) => expression(names[at]!))),
    );
    const { rows } = await connection.query(
      `SELECT ${["count(*)", ...sums].join(", ")} FROM (${sample(names.length > 0 ? names : ["1 AS one"], sampleRows)}) sample`,
      limits,
    );
    const [count, ...figures] = rows[0]!;
    sampled = Number(count);
    chunk.forEach((column, at) => {
      columns.set(column.name, readColumn(column.name, asked[at]!, figures, sampled, examples.get(column.name) ?? []));
    });
  }
  return {
    schema: table.schema,
    name: table.name,
    rows: Math.max(rows, sampled),
    rowsAreExact: !isLarge || whole !== undefined,
    sampled,
    columns: [...columns.values()].map((column) => ({ ...column, ...whole?.ranges.get(column.name) })),
  };
}

const EXPRESSIONS: Record<Measure, readonly ((column: string) => string)[]> = {
  nulls: [(column) => `count(${column})`],
  distinct: [(column) => `count(DISTINCT ${column})`],
  range: [(column) => `min(${column})`, (column) => `max(${column})`],
  lengths: [(column) => `min(length(${column}))`, (column) => `max(length(${column}))`],
};

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
  table: Table,
  sample: Sample,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Map<string, Value[]>> {
  const columns = table.columns.filter(({ kind }) => kind !== "json" && kind !== "binary");
  if (columns.length === 0) return new Map();
  const names = columns.map(({ name }) => connection.quote(name));
  const { rows } = await connection.query(sample(names, EXAMPLE_ROWS), limits);
  return new Map(
    columns.map(({ name }, at) => {
      const counts = new Map<Value, number>();
      for (const row of rows) if (row[at] !== null) counts.set(row[at]!, (counts.get(row[at]!) ?? 0) + 1);
      const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, SAMPLES);
      return [name, frequent.map(([value]) => value)];
    }),
  );
}

/** Size and number ranges of a table larger than its sample. Undefined if that is slow. */
async function wholeTable(
  connection: Connection,
  table: Table,
  from: string,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<{ rows: number; ranges: Map<string, { min: Value; max: Value }> } | undefined> {
  const numbers = table.columns.filter(({ kind }) => kind === "integer").slice(0, COLUMNS_AT_ONCE);
  const sums = numbers.flatMap(({ name }) => EXPRESSIONS.range.map((expression) => expression(connection.quote(name))));
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
