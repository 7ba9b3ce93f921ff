import { invalid, refused } from "../reader/failure.ts";

export interface Token {
  type: "word" | "quoted" | "string" | "parameter" | "symbol";
  /** The source text; for a quoted name, the name itself. */
  text: string;
  source: string;
  /** Whether whitespace or a comment precedes it. */
  isApart: boolean;
}

/** Includes control characters. MySQL accepts fewer, which is harmless: the sent text contains plain spaces. */
const isSpace = (character: string): boolean => character <= " " || /\s/.test(character);
const WORD = /[\w$\u0080-\uFFFF]/;

/**
 * Tokenizes a query as MySQL does with our session settings: quotes are strings, backslashes escape, `--` starts a
 * comment only before a space. Comments are dropped. Executable comments (`/*! … *\/`) are rejected: text must not be a
 * comment to one reader and code to another.
 */
export function readTokens(sql: string): Token[] {
  const tokens: Token[] = [];
  let isApart = false;
  for (let at = 0; at < sql.length;) {
    const rest = sql.slice(at, at + 3);
    const end = commentEnd(sql, at, rest);
    if (end !== undefined || isSpace(sql[at]!)) {
      isApart = true;
      at = end ?? at + 1;
      continue;
    }
    const token = readToken(sql, at, isApart);
    tokens.push(token);
    at += token.source.length;
    isApart = false;
  }
  return tokens;
}

/** Rebuilds the query from its tokens, so that the server sees exactly what was checked. */
export function writeTokens(tokens: readonly Token[], literals: readonly string[]): string {
  let text = "";
  let parameter = 0;
  for (const [index, token] of tokens.entries()) {
    const isDash = token.source === "-" && tokens[index - 1]?.source === "-";
    if (index > 0 && (token.isApart || isDash)) text += " ";
    text += token.type === "parameter" ? literals[parameter++] : token.source;
  }
  return text;
}

function commentEnd(sql: string, at: number, rest: string): number | undefined {
  if (rest.startsWith("#") || (rest.startsWith("--") && (rest.length === 2 || isSpace(rest[2]!)))) {
    const newline = sql.indexOf("\n", at);
    return newline < 0 ? sql.length : newline + 1;
  }
  if (!rest.startsWith("/*")) return undefined;
  if (/^\/\*M?!/i.test(sql.slice(at, at + 4))) throw refused("a comment in it is code to some servers");
  const end = sql.indexOf("*/", at + 2);
  if (end < 0) throw invalid("a comment has no end");
  return end + 2;
}

function readToken(sql: string, at: number, isApart: boolean): Token {
  const first = sql[at]!;
  if (first === "'" || first === '"') {
    const source = readQuoted(sql, at, first, true);
    return { type: "string", text: source, source, isApart };
  }
  if (first === "`") {
    const source = readQuoted(sql, at, first, false);
    return { type: "quoted", text: source.slice(1, -1).replaceAll("``", "`"), source, isApart };
  }
  if (WORD.test(first)) {
    let end = at + 1;
    while (end < sql.length && WORD.test(sql[end]!)) end += 1;
    const source = sql.slice(at, end);
    return { type: "word", text: source, source, isApart };
  }
  return { type: first === "?" ? "parameter" : "symbol", text: first, source: first, isApart };
}

function readQuoted(sql: string, at: number, quote: string, hasEscapes: boolean): string {
  for (let end = at + 1; end < sql.length; end += 1) {
    if (hasEscapes && sql[end] === "\\") end += 1;
    else if (sql[end] === quote) {
      if (sql[end + 1] !== quote) return sql.slice(at, end + 1);
      end += 1;
    }
  }
  throw invalid("a quote has no end");
}
