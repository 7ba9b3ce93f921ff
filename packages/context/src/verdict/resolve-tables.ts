import type { Connection, Dialect } from "@tandem/connectors";
import type { CataloguedTable, NamedTable } from "@tandem/metrics";
import { RequestError } from "@tandem/protocol";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { readCataloguedTable } from "../catalogue/read-catalogued-table.ts";

interface ResolveInput {
  catalogue: CatalogueReader;
  /** The connection's name. */
  name: string;
  connection: Connection;
  signal: AbortSignal;
}

/** The schema in which the database looks up a table without one. */
const DEFAULT_SCHEMA: Readonly<Record<Exclude<Dialect, "sqlite">, string>> = {
  postgres: "select current_schema()",
  mysql: "select database()",
  duckdb: "select current_schema()",
};

const defaultSchemas = new WeakMap<Connection, Promise<string>>();

/** The tables of the catalogue that a statement names, as the database resolves the names. */
export async function resolveTables(
  named: readonly NamedTable[],
  { catalogue, name, connection, signal }: ResolveInput,
): Promise<CataloguedTable[]> {
  const unqualified = named.some(({ schema }) => schema === undefined);
  const schema = unqualified ? await defaultSchema(connection, signal) : "";
  const texts = new Set(named.map((table) => `${table.schema ?? schema}.${table.name}`));
  const files = await Promise.all([...texts].map((text) => catalogue.find(text, name).catch(unknownTable)));
  const found = files.flatMap((file) => (file && !file.gone ? [file] : []));
  const collated = connection.dialect === "sqlite" ? await collatedTables(connection, signal) : [];
  return found.map((file) => {
    const table = readCataloguedTable(file);
    const hasCollation = collated.length > 0 && (file.type === "view" || collated.includes(file.table.toLowerCase()));
    if (!hasCollation) return table;
    return { ...table, columns: table.columns.map((column) => ({ ...column, hasCollation })) };
  });
}

function defaultSchema(connection: Connection, signal: AbortSignal): Promise<string> {
  const { dialect } = connection;
  if (dialect === "sqlite") return Promise.resolve("main");
  const known = defaultSchemas.get(connection);
  if (known) return known;
  const asked = connection
    .query(DEFAULT_SCHEMA[dialect], { maxRows: 1, signal })
    .then(({ rows }) => String(rows[0]?.[0] ?? ""));
  defaultSchemas.set(connection, asked);
  asked.catch(() => defaultSchemas.delete(connection));
  return asked;
}

/**
 * SQLite compares texts by the collation of one side, which may differ from that of the unique index. Tables and indexes that name
 * a collation are not trusted for texts.
 */
async function collatedTables(connection: Connection, signal: AbortSignal): Promise<string[]> {
  const { rows } = await connection.query(
    "select distinct lower(tbl_name) from sqlite_schema where sql like '%collate%'",
    { maxRows: 10_000, signal },
  );
  return rows.map(([table]) => String(table));
}

/** Names of subqueries are tables to the parser, and a table may not be scanned yet. */
function unknownTable(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
}
