import type { Connection, Value } from "@tandem/connectors";
import { TandemError } from "@tandem/protocol";
import { type SourceEntry, textItem } from "../source.ts";
import { HISTORY, QueryHistory } from "./query-history.ts";
import { sqlTables } from "./sql-tables.ts";

/** Query shapes read from the server, the most frequent first. */
const SHAPES = 5_000;
const LIMITS = { maxRows: SHAPES, maxBytes: 64 * 1024 * 1024 };

/** Statements of other users that the role may not see. */
const HIDDEN = "<insufficient privilege>";

interface CountedQuery {
  sql: string;
  calls: number;
  user: string;
}

/** The queries that a server has counted since its last restart: one item per table. Only reads; values are left out. */
export async function* listLiveHistory(
  name: string,
  connection: Connection,
  signal?: AbortSignal,
): AsyncGenerator<SourceEntry> {
  const options = { ...LIMITS, ...(signal && { signal }) };
  const rows =
    connection.dialect === "postgres"
      ? await readPostgres(name, connection, options)
      : connection.dialect === "mysql"
        ? await readMysql(name, connection, options)
        : undefined;
  if (!rows) {
    throw new TandemError("not_supported", `${name} is a ${connection.dialect} file, which keeps no query history.`, {
      fix: "Use a connection to Postgres, MariaDB or MySQL.",
    });
  }
  const hidden = rows.filter(({ sql }) => sql === HIDDEN).reduce((sum, { calls }) => sum + calls, 0);
  if (hidden > 0) yield { type: "skipped", path: `${HISTORY}other-users`, error: hiddenFrom(name, hidden) };
  const history = new QueryHistory();
  for (const { sql, calls, user } of rows) {
    if (isForeignRead(sql)) history.addQuery(sql, calls, user);
  }
  for (const { path, title, markdown } of history.documents()) yield textItem(path, title, markdown);
}

type Options = typeof LIMITS & { signal?: AbortSignal };

async function readPostgres(name: string, connection: Connection, options: Options): Promise<CountedQuery[]> {
  const found = await connection.query(
    `select n.nspname from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
     where e.extname = 'pg_stat_statements'`,
    options,
  );
  const schema = found.rows[0]?.[0];
  if (typeof schema !== "string") throw missingExtension(name);
  const view = `${connection.quote(schema)}.pg_stat_statements`;
  try {
    const { rows } = await connection.query(
      `select s.query, s.calls, s.userid::text from ${view} s
       where s.dbid = (select oid from pg_catalog.pg_database where datname = current_database())
       order by s.calls desc limit ${SHAPES}`,
      options,
    );
    // Placeholders of normalized statements are numbered.
    return rows.map(toQuery).map((query) => ({ ...query, sql: query.sql.replaceAll(/\$\d+/g, "?") }));
  } catch (error) {
    if (error instanceof TandemError && /shared_preload_libraries/.test(error.message)) throw missingExtension(name);
    throw error;
  }
}

async function readMysql(name: string, connection: Connection, options: Options): Promise<CountedQuery[]> {
  try {
    const { rows } = await connection.query(
      `select digest_text, count_star, schema_name from performance_schema.events_statements_summary_by_digest
       where digest_text is not null and (schema_name = database() or database() is null)
       order by count_star desc limit ${SHAPES}`,
      options,
    );
    if (rows.length === 0) throw noSchema(name);
    return rows.map(toQuery).map((query) => ({ ...query, sql: unspaced(query.sql), user: "" }));
  } catch (error) {
    if (error instanceof TandemError && /denied/i.test(error.message)) {
      throw new TandemError("history_unavailable", `The user of ${name} may not read its query history.`, {
        fix: "As an administrator: grant select on performance_schema.* to this user.",
        cause: error,
      });
    }
    throw error;
  }
}

const toQuery = ([sql, calls, user]: readonly Value[]): CountedQuery => ({
  sql: String(sql ?? ""),
  calls: Number(calls ?? 0),
  user: String(user ?? ""),
});

/** Digests put spaces around every token. */
const unspaced = (digest: string): string =>
  digest
    .replaceAll(/ \. /g, ".")
    .replaceAll(/ , /g, ", ")
    .replaceAll(/ \( /g, " (")
    .replaceAll(/ \)/g, ")")
    .replaceAll(/`(\w+)`/g, "$1");

/**
 * Whether a person or a program has read a table of its own with it. Tandem's own reads begin with `declare … cursor`
 * in Postgres and with `set statement` in MariaDB; its look at the structure reads system tables.
 */
function isForeignRead(sql: string): boolean {
  if (!/^\s*(\(|select\b|with\b)/i.test(sql)) return false;
  return !sqlTables(sql).some((table) => SYSTEM.test(table));
}

const SYSTEM = /^(pg_|information_schema\.|performance_schema\.|mysql\.|sys\.|pg_catalog\.)|(^|\.)pg_stat_statements$/i;

const missingExtension = (name: string): TandemError =>
  new TandemError("history_unavailable", `${name} keeps no query history: pg_stat_statements is not loaded.`, {
    fix: "As an administrator: add pg_stat_statements to shared_preload_libraries, restart the server, and run `create extension pg_stat_statements` in this database.",
  });

const noSchema = (name: string): TandemError =>
  new TandemError("history_unavailable", `${name} keeps no query history: its performance_schema is off or empty.`, {
    fix: "Set performance_schema=ON under [mysqld] in the server's settings, and restart it.",
  });

const hiddenFrom = (name: string, calls: number): TandemError =>
  new TandemError(
    "history_unavailable",
    `${calls.toLocaleString("en-US")} calls of other users are hidden from the role of ${name}.`,
    { fix: "As an administrator: grant pg_read_all_stats to this role." },
  );
