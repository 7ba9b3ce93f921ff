import { invalid, refused } from "../reader/failure.ts";

/** Returns a single value. */
type Ask = (sql: string, ...parameters: string[]) => Promise<string>;

/** Allowed table functions. Others read files, run text as a query, or change settings. */
const TABLE_FUNCTIONS = new Set(
  `duckdb_columns duckdb_constraints duckdb_databases duckdb_dependencies duckdb_functions duckdb_indexes duckdb_keywords
  duckdb_schemas duckdb_sequences duckdb_tables duckdb_types duckdb_views generate_series histogram histogram_values
  json_each json_tree pg_timezone_names pragma_database_size pragma_show pragma_storage_info pragma_table_info
  pragma_version query_table range repeat repeat_row summary unnest`.split(/\s+/),
);

/** Marked as having side effects in the catalogue, but harmless. */
const HARMLESS = new Set(["error", "gen_random_uuid", "random", "uuid", "uuidv4", "uuidv7"]);

/** Uses DuckDB's own parser, which serialises only SELECT statements. */
export class DuckdbGuard {
  readonly #ask: Ask;
  #withEffects: Promise<Set<string>> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async judge(sql: string): Promise<void> {
    if (sql.includes("\0") || !sql.isWellFormed()) throw refused("it is not text");
    const read = JSON.parse(await this.#ask("select json_serialize_sql(?::varchar)", sql)) as Serialized;
    if (read.error)
      throw read.error_type === "parser" ? invalid(read.error_message) : refused("only a SELECT can be run");
    if (read.statements.length === 0) throw refused("there is no statement");
    if (read.statements.length > 1) throw refused("there is more than one statement");
    const called = new Set<string>();
    inspect(read.statements, false, called);
    if (called.size === 0) return;
    // Cached: no extension is ever loaded, and macros consist of built-in functions.
    const withEffects = await (this.#withEffects ??= this.#readEffects());
    for (const name of called) if (withEffects.has(name)) throw refused(`the function ${name} may have effects`);
  }

  async #readEffects(): Promise<Set<string>> {
    const names = await this.#ask(
      "select to_json(list(distinct lower(function_name))) from duckdb_functions() where has_side_effects",
    );
    return new Set((JSON.parse(names) as string[]).filter((name) => !HARMLESS.has(name)));
  }
}

type Serialized = { error: false; statements: unknown[] } | { error: true; error_type: string; error_message: string };

function inspect(node: unknown, isTable: boolean, called: Set<string>): void {
  if (Array.isArray(node)) {
    for (const part of node) inspect(part, false, called);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  const { type, function_name: name } = node as { type?: unknown; function_name?: unknown };
  if (typeof name === "string") {
    if (isTable && !TABLE_FUNCTIONS.has(name.toLowerCase())) throw refused(`the table function ${name} is not allowed`);
    called.add(name.toLowerCase());
  }
  for (const [key, value] of Object.entries(node)) {
    inspect(value, type === "TABLE_FUNCTION" && key === "function", called);
  }
}
