import type { Connection, Dialect, Value } from "./connection.ts";

const VERSION: Readonly<Record<Dialect, { product: string; sql: string }>> = {
  sqlite: { product: "SQLite", sql: "select sqlite_version()" },
  duckdb: { product: "DuckDB", sql: "select version()" },
  postgres: { product: "PostgreSQL", sql: "select current_setting('server_version')" },
  mysql: { product: "MySQL", sql: "select version()" },
};

const CAN_WRITE: { readonly [D in Dialect]?: string } = {
  // Null without tables: then nothing is known of the rights.
  postgres: `select bool_or(has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
      and has_schema_privilege(n.oid, 'USAGE')`,
  mysql: `select exists (
    select privilege_type from information_schema.user_privileges
      where privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'DROP')
    union all select privilege_type from information_schema.schema_privileges
      where privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'DROP')
    union all select privilege_type from information_schema.table_privileges
      where privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'DROP'))`,
};

export interface ConnectionFacts {
  /** Product and version, such as `PostgreSQL 17.2`. */
  version: string;
  /** Whether the account may change data, which no query of Tandem can. Null for files, or if it is unknown. */
  accountCanWrite: boolean | null;
}

/** Reads the version of a database and the rights of its account. */
export async function inspectConnection(
  connection: Connection,
  { signal }: { signal?: AbortSignal } = {},
): Promise<ConnectionFacts> {
  const ask = async (sql: string): Promise<Value | undefined> =>
    (await connection.query(sql, { maxRows: 1, ...(signal && { signal }) })).rows[0]?.[0];
  const { product, sql } = VERSION[connection.dialect];
  const version = String((await ask(sql)) ?? "").replace(/^v(?=\d)/, "");
  const rights = CAN_WRITE[connection.dialect];
  // A view of the rights may be hidden from the account. The connection works all the same.
  const canWrite = rights === undefined ? undefined : await ask(rights).catch(() => undefined);
  signal?.throwIfAborted();
  return {
    version: /mariadb/i.test(version)
      ? `MariaDB ${version.replace(/-mariadb.*$/i, "")}`
      : `${product} ${version}`.trim(),
    accountCanWrite: canWrite === undefined || canWrite === null ? null : Boolean(canWrite),
  };
}
