import type { Dialect } from "@tandem/connectors";

/** The tree of one statement. A reason as text if it is none, or several. */
export async function parseSql(sql: string, dialect: Dialect): Promise<{ tree: unknown } | { reason: string }> {
  // Imported on demand, because the parser is large.
  const { Dialect: Parser, init, parse } = await import("@polyglot-sql/sdk");
  await init();
  const dialects = { sqlite: Parser.SQLite, postgres: Parser.PostgreSQL, duckdb: Parser.DuckDB, mysql: Parser.MySQL };
  const parsed = parse(sql, dialects[dialect]);
  if (!parsed.success || !Array.isArray(parsed.ast)) {
    return { reason: `It cannot be parsed: ${parsed.error ?? "unknown"}.` };
  }
  if (parsed.ast.length !== 1) return { reason: "It is more than one statement." };
  return { tree: parsed.ast[0] };
}
