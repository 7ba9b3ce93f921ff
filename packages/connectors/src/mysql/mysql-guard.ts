import { Dialect, parse } from "@polyglot-sql/sdk";
import type { Value } from "../connection.ts";
import { invalid, refused, wrongParameters } from "../reader/failure.ts";
import { FUNCTIONS, KEYWORDS } from "./mysql-functions.ts";
import { readTokens, writeTokens, type Token } from "./mysql-tokens.ts";

export interface JudgedQuery {
  /** The text to send: without comments, with values inlined. */
  sql: string;
  /** User-defined functions: `[name]`, or `[schema, name]`. */
  unknown: string[][];
}

const MAX_SQL_CHARACTERS = 1_000_000;
const QUERIES = new Set(["select", "union", "intersect", "except", "subquery", "paren", "with"]);
const WRITES = new Set(["insert", "update", "delete", "merge", "command", "into"]);

/**
 * Accepts one read-only statement. MySQL's parser is not available as a library, so two readers must agree: a tokenizer
 * that matches the server exactly, and a grammar-based parser.
 */
export function judgeQuery(text: string, parameters: readonly Value[]): JudgedQuery {
  if (text.length > MAX_SQL_CHARACTERS || text.includes("\0") || !text.isWellFormed()) throw refused("it is not text");
  const tokens = withoutEnd(readTokens(text));
  if (tokens.length === 0) throw refused("there is no statement");
  const first = tokens.find(({ source }) => source !== "(");
  if (!/^(select|with)$/i.test(first?.source ?? "")) throw refused("only a SELECT can be run");
  const wanted = tokens.filter(({ type }) => type === "parameter").length;
  if (wanted !== parameters.length) throw wrongParameters(wanted, parameters.length);
  judgeTokens(tokens);
  const sql = writeTokens(tokens, parameters.map(toLiteral));
  judgeTree(sql);
  return { sql, unknown: unknownFunctions(tokens) };
}

function withoutEnd(tokens: readonly Token[]): Token[] {
  const last = tokens.findLastIndex(({ source }) => source !== ";");
  const rest = tokens.slice(0, last + 1);
  if (rest.some(({ source }) => source === ";")) throw refused("there is more than one statement");
  return rest;
}

function judgeTokens(tokens: readonly Token[]): void {
  for (const index of tokens.keys()) {
    const word = (offset: number): string => {
      const other = tokens[index + offset];
      return other?.type === "word" ? other.text.toLowerCase() : (other?.source ?? "");
    };
    // After a dot, every word is a name. But the dot in `1.` belongs to a number, so the next word is not.
    if (word(-1) === "." && !/^\d+$/.test(word(-2))) continue;
    if (word(0) === "into") throw refused("INTO writes to a file, a table or a variable");
    if (word(0) === "procedure") throw refused("PROCEDURE is not allowed");
    if (word(0) === ":" && word(1) === "=") throw refused(":= sets a variable");
    if (word(0) === "for" && /^(update|share)$/.test(word(1))) throw refused("FOR UPDATE and FOR SHARE lock rows");
    if (word(0) === "lock" && word(1) === "in") throw refused("LOCK IN SHARE MODE locks rows");
    if (word(0) === "value" && word(1) === "for") throw refused("VALUE FOR changes a sequence");
  }
}

function judgeTree(sql: string): void {
  const parsed = parse(sql, Dialect.MySQL);
  if (!parsed.success) throw invalid(parsed.error ?? "it was not understood");
  const statements = parsed.ast as unknown[];
  if (statements.length !== 1) throw refused("there is more than one statement");
  const type = Object.keys(statements[0] ?? {})[0] ?? "";
  if (!QUERIES.has(type)) throw refused("only a SELECT can be run");
  inspect(statements[0]);
}

function inspect(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (WRITES.has(key) && typeof value === "object" && value !== null) throw refused("a part of it writes");
    if (key === "locks" && Array.isArray(value) && value.length > 0) throw refused("it locks rows");
    inspect(value);
  }
}

/** Names before a parenthesis that are neither keywords nor allowed functions. */
function unknownFunctions(tokens: readonly Token[]): string[][] {
  return tokens.flatMap((token, index) => {
    if (tokens[index + 1]?.source !== "(" || (token.type !== "word" && token.type !== "quoted")) return [];
    const name = token.text.toLowerCase();
    const before = tokens[index - 1];
    if (before?.source === ".") return [[tokens[index - 2]?.text ?? "", token.text]];
    if (FUNCTIONS.has(name) || (token.type === "word" && KEYWORDS.has(name))) return [];
    // `AS name (columns)` and `name (columns) AS (query)` define columns.
    const isAlias = before?.type === "word" && before.text.toLowerCase() === "as";
    return isAlias || isCommonTable(tokens, index + 1) ? [] : [[token.text]];
  });
}

function isCommonTable(tokens: readonly Token[], open: number): boolean {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    if (tokens[index]!.source === "(") depth += 1;
    if (tokens[index]!.source === ")") depth -= 1;
    if (depth === 0) return tokens[index + 1]?.text.toLowerCase() === "as" && tokens[index + 2]?.source === "(";
  }
  return false;
}

/** With our session settings, only quotes and backslashes can end a string. */
function toLiteral(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "''").replaceAll("\0", "\\0")}'`;
}
