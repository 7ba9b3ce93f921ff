import { type Column, type Connection, ConnectionError, type Table, type Value } from "@tandem/connectors";
import { type ColumnProfile, coverageOf, type Coverage, type Domain, type TableProfile } from "./profile.ts";

/** Columns with more distinct values keep a few examples only. */
const MOST_VALUES = 200;
/** Numbers and times that are all different are identifiers, and each new row adds one: of these a few are kept. */
const MOST_IDENTIFIERS = 12;
/** Longer texts are prose, and people do not filter by them. */
const LONGEST = 200;
/** SQLite allows 500 parts of a UNION; long statements also take long to plan. */
const COLUMNS_AT_ONCE = 25;
const BYTES = 4_000_000;
/** Time for reading whole columns of a table that is larger than its sample. */
const WHOLE_TABLE_MS = 5_000;

export interface DomainOptions {
  /** The sample that the profile was read from. */
  sample: (columns: readonly string[]) => string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Reads every value of the columns that have few. A large table is read whole for a few seconds at most; after that only
 * its sample is read. Columns whose values cannot be compared are left out.
 */
export async function readDomains(
  connection: Connection,
  table: Table,
  profile: TableProfile,
  { sample, timeoutMs, signal }: DomainOptions,
): Promise<Map<string, Domain>> {
  const from = `${connection.quote(table.schema)}.${connection.quote(table.name)}`;
  const profiles = new Map(profile.columns.map((column) => [column.name, column]));
  const columns = table.columns.filter((column) => canBeSmall(column, profiles.get(column.name), connection.dialect));
  const domains = new Map<string, Domain>();
  const isSampled = coverageOf(profile) === "sample";
  const stopAt = Date.now() + (isSampled ? Math.min(WHOLE_TABLE_MS, timeoutMs) : timeoutMs);
  // A UNION needs one type in most databases.
  for (const alike of Map.groupBy(columns, ({ type }) => (connection.dialect === "sqlite" ? "" : type)).values()) {
    for (let at = 0; at < alike.length; at += COLUMNS_AT_ONCE) {
      const chunk = alike.slice(at, at + COLUMNS_AT_ONCE);
      const read = (of: Coverage, limitMs: number) =>
        readChunk(connection, chunk, of === "all" ? () => from : (column) => `(${sample([column])}) sample`, {
          timeoutMs: limitMs,
          signal,
        });
      let of: Coverage = "all";
      let values = Date.now() < stopAt ? await read(of, Math.max(1, stopAt - Date.now())) : undefined;
      if (!values && isSampled) values = await read((of = "sample"), timeoutMs);
      for (const [name, found] of values ?? []) {
        if (found.length > MOST_VALUES || found.length === 0) continue;
        domains.set(name, { values: frequentFirst(found, profiles.get(name)!.samples), of });
      }
    }
  }
  return domains;
}

/** Undefined if the time is over. A column that cannot be read this way is left out. */
async function readChunk(
  connection: Connection,
  columns: readonly Column[],
  source: (column: string) => string,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Map<string, Value[]> | undefined> {
  const parts = columns.map((column, index) => {
    const name = connection.quote(column.name);
    const value = column.kind === "other" && connection.dialect !== "sqlite" ? `CAST(${name} AS text)` : name;
    const distinct = `SELECT DISTINCT ${value} AS v FROM ${source(name)} WHERE ${name} IS NOT NULL LIMIT ${MOST_VALUES + 1}`;
    return `SELECT ${index} AS c, v FROM (${distinct}) d${index}`;
  });
  try {
    const { rows, truncated } = await connection.query(parts.join(" UNION ALL "), {
      ...limits,
      maxRows: columns.length * (MOST_VALUES + 1),
      maxBytes: BYTES,
    });
    if (truncated) return new Map();
    const values = Map.groupBy(rows, ([index]) => Number(index));
    return new Map(columns.map(({ name }, index) => [name, (values.get(index) ?? []).map((row) => row[1]!)]));
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (!(error instanceof ConnectionError)) throw error;
    if (error.code === "query_timeout") return undefined;
    if (columns.length === 1) return new Map();
    // One column fails: a type without equality, or texts of two collations in one UNION.
    const all = new Map<string, Value[]>();
    for (const column of columns) {
      const one = await readChunk(connection, [column], source, limits);
      if (!one) return undefined;
      for (const [name, found] of one) all.set(name, found);
    }
    return all;
  }
}

function canBeSmall(column: Column, profile: ColumnProfile | undefined, dialect: Connection["dialect"]): boolean {
  if (!profile || column.kind === "json" || column.kind === "binary" || profile.samples.length === 0) return false;
  if (column.kind === "other" && dialect === "mysql") return false;
  // Other types have no measured figures; their examples tell.
  if (profile.unique && profile.distinct > MOST_IDENTIFIERS && column.kind !== "text") return false;
  if (profile.distinct > MOST_VALUES || (profile.lengths?.[1] ?? 0) > LONGEST) return false;
  return profile.samples.every((value) => String(value).length <= LONGEST);
}

/** The rest is sorted, so that an unchanged column gives an unchanged file. */
function frequentFirst(values: readonly Value[], frequent: readonly Value[]): Value[] {
  const all = new Set(values);
  const first = frequent.filter((value) => all.has(value));
  const rest = values.filter((value) => !first.includes(value));
  return [...first, ...rest.toSorted(inOrder)];
}

const inOrder = (a: Value, b: Value): number =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
