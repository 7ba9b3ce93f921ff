import { type Connection, ConnectionError, type TableName } from "@tandem/connectors";

/** Builds a query for at most `size` rows; columns are quoted. */
export type Sample = (columns: readonly string[], size: number, where?: string) => string;

interface Limits {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const BLOCKS = 8;
/** Minimum fraction of the wanted rows: key gaps or a bad estimate may leave too few. */
const MIN_SHARE = 0.25;

/**
 * Samples the whole range of a table instead of its first (oldest) rows: cheap and deterministic. Undefined if the
 * database has no cheap way for this table.
 */
export async function spreadSample(
  connection: Connection,
  table: TableName & { rows: number },
  size: number,
  limits: Limits,
): Promise<Sample | undefined> {
  const from = `${connection.quote(table.schema)}.${connection.quote(table.name)}`;
  try {
    const sample =
      connection.dialect === "sqlite"
        ? await stretches(connection, from, limits)
        : somePages(connection, from, table.rows);
    if (!sample) return undefined;
    const { rows } = await connection.query(`SELECT count(*) FROM (${sample(["1 AS one"], size)}) sample`, limits);
    return Number(rows[0]![0]) >= Math.min(size, table.rows) * MIN_SHARE ? sample : undefined;
  } catch (error) {
    limits.signal?.throwIfAborted();
    // Views, foreign tables and tables without rowids.
    if (error instanceof ConnectionError) return undefined;
    throw error;
  }
}

/**
 * Postgres samples whole pages; DuckDB samples single rows, because its vectors are too large and its scan is cheap.
 */
function somePages({ dialect }: Connection, from: string, rows: number): Sample | undefined {
  if (dialect === "mysql") return undefined;
  return (columns, size, where) => {
    // A sample of very few pages might be empty.
    const percent = (least: number) => Math.min(100, (130 * Math.max(least, size)) / Math.max(1, rows)).toFixed(4);
    const method = dialect === "duckdb" ? `BERNOULLI (${percent(0)} PERCENT)` : `SYSTEM (${percent(5_000)})`;
    const pages = `${from} TABLESAMPLE ${method} REPEATABLE (7)`;
    return `SELECT ${columns.join(", ")} FROM ${pages}${where ? ` WHERE ${where}` : ""} LIMIT ${size}`;
  };
}

/** The first rows of eight ranges of a SQLite table. */
async function stretches(connection: Connection, from: string, limits: Limits): Promise<Sample | undefined> {
  const ends = `SELECT (SELECT min(rowid) FROM ${from}), (SELECT max(rowid) FROM ${from})`;
  const [low, high] = (await connection.query(ends, limits)).rows[0] ?? [];
  if (typeof low !== "number" || typeof high !== "number") return undefined;
  const start = (block: number) => low + Math.floor(((high - low + 1) * block) / BLOCKS);
  return (columns, size, where) => {
    const parts = Array.from({ length: BLOCKS }, (_, block) => {
      const stretch = `rowid >= ${start(block)} AND rowid < ${start(block + 1)}`;
      const rows = `SELECT ${columns.join(", ")} FROM ${from} WHERE ${stretch}${where ? ` AND ${where}` : ""}`;
      return `SELECT * FROM (${rows} LIMIT ${Math.ceil(size / BLOCKS)})`;
    });
    return `${parts.join(" UNION ALL ")} LIMIT ${size}`;
  };
}
