import { loadModule, parseSync } from "libpg-query";
import { invalid, refused } from "../reader/failure.ts";

/** Calls in a query, to be looked up in the catalogue. */
export interface Calls {
  /** `[name]`, or `[schema, name]`. */
  functions: string[][];
  /** A function can be written like a column: `t.f` means `f(t)` if there is no column `f`. */
  attributes: string[];
  operators: string[];
}

export interface JudgedQuery {
  isExplain: boolean;
  calls: Calls;
}

/** Deep nesting would overflow the stack of the WebAssembly parser. */
const MAX_SQL_CHARACTERS = 1_000_000;

/** Parses the query with Postgres' own parser and accepts one read-only statement. */
export async function judgeQuery(sql: string): Promise<JudgedQuery> {
  const statements = await parseStatements(sql);
  if (statements.length === 0) throw refused("there is no statement");
  if (statements.length > 1) throw refused("there is more than one statement");
  const [type, body] = Object.entries(field(statements[0], "stmt") ?? {})[0] ?? ["nothing", undefined];
  if (type === "ExplainStmt") {
    if (list(field(body, "options")).some((option) => field(field(option, "DefElem"), "defname") === "analyze")) {
      throw refused("EXPLAIN ANALYZE would run the query");
    }
    if (field(field(body, "query"), "SelectStmt") === undefined) throw refused("only a SELECT can be explained");
  } else if (type !== "SelectStmt") {
    throw refused("only a SELECT can be run");
  }
  const calls: Calls = { functions: [], attributes: [], operators: [] };
  inspect(body, calls);
  return { isExplain: type === "ExplainStmt", calls };
}

/** Must run before any other parser call. */
export async function prepareParser(sql: string): Promise<void> {
  if (sql.length > MAX_SQL_CHARACTERS || sql.includes("\0") || !sql.isWellFormed()) {
    throw refused("it is longer than a query can be, or is not text");
  }
  await loadModule();
}

async function parseStatements(sql: string): Promise<unknown[]> {
  await prepareParser(sql);
  if (sql.trim() === "") return [];
  try {
    return list(field(parseSync(sql), "stmts"));
  } catch (error) {
    if (error instanceof RangeError) throw refused("it is nested too deeply");
    throw invalid((error as Error).message);
  }
}

/** Visits the whole tree and rejects anything that can do more than read. */
function inspect(node: unknown, calls: Calls): void {
  if (Array.isArray(node)) {
    for (const part of node) inspect(part, calls);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key.endsWith("Stmt") && key !== "SelectStmt") throw refused("a part of it writes");
    if (key === "intoClause") throw refused("SELECT INTO makes a table");
    if (key === "lockingClause" || key === "LockingClause") throw refused("FOR UPDATE and FOR SHARE lock rows");
    if (key === "FuncCall") calls.functions.push(names(field(value, "funcname")));
    if (key === "useOp" || key === "operName") calls.operators.push(names(value).at(-1) ?? "");
    if (key === "A_Expr") calls.operators.push(names(field(value, "name")).at(-1) ?? "");
    if (key === "ColumnRef") calls.attributes.push(...names(field(value, "fields")).slice(1));
    if (key === "A_Indirection") calls.attributes.push(...names(field(value, "indirection")));
    inspect(value, calls);
  }
}

const field = (node: unknown, name: string): unknown =>
  typeof node === "object" && node !== null ? (node as Record<string, unknown>)[name] : undefined;

const list = (node: unknown): unknown[] => (Array.isArray(node) ? node : []);

const names = (node: unknown): string[] =>
  list(node)
    .map((part) => field(field(part, "String"), "sval"))
    .filter((name) => typeof name === "string");
