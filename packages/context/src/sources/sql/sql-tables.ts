import { sqlTokens, type SqlToken } from "./sql-tokens.ts";

/** Keywords that precede tables. */
const BEFORE_TABLES = new Set(["from", "join", "into", "update", "table"]);
/** Functions with their own `from`: `extract(year from placed_at)`. */
const WITH_FROM = new Set(["extract", "substring", "trim", "overlay"]);
const NOT_TABLES = new Set("select values lateral unnest only if not exists set where dual".split(" "));

/** Tables in a query, in order and unique, as written; without its own CTEs. */
export function sqlTables(sql: string, all: readonly SqlToken[] = sqlTokens(sql)): string[] {
  const tokens = all.filter(({ type }) => type !== "space" && type !== "comment");
  const own = definedNames(tokens);
  const tables = new Map<string, string>();
  const opened: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const word = lower(tokens[at]);
    if (word === "(") opened.push(lower(tokens[at - 1]));
    else if (word === ")") opened.pop();
    if (!BEFORE_TABLES.has(word)) continue;
    if (word === "from" && (lower(tokens[at - 1]) === "distinct" || WITH_FROM.has(opened.at(-1) ?? ""))) continue;
    let next = at + 1;
    for (;;) {
      const { name, end } = nameAt(tokens, next);
      if (!name || lower(tokens[end]) === "(") break;
      if (!own.has(name.toLowerCase())) tables.set(name.toLowerCase(), tables.get(name.toLowerCase()) ?? name);
      next = commaAfter(tokens, end);
      if (word !== "from" || next === -1) break;
    }
  }
  return [...tables.values()];
}

const lower = (token: SqlToken | undefined): string => token?.text.toLowerCase() ?? "";

/** `with a as (…), b as (…)` */
function definedNames(tokens: readonly SqlToken[]): ReadonlySet<string> {
  const names = new Set<string>();
  if (!tokens.some((token) => lower(token) === "with")) return names;
  for (const [at, token] of tokens.entries()) {
    const before = lower(tokens[at - 1]);
    if (token.type !== "word" && token.type !== "quoted") continue;
    if (before !== "with" && before !== "," && before !== "recursive") continue;
    let next = at + 1;
    if (lower(tokens[next]) === "(") next = tokens.findIndex((each, index) => index > next && each.text === ")") + 1;
    if (lower(tokens[next]) === "as" && ["(", "materialized", "not"].includes(lower(tokens[next + 1]))) {
      names.add(unquoted(token).toLowerCase());
    }
  }
  return names;
}

function nameAt(tokens: readonly SqlToken[], from: number): { name: string | undefined; end: number } {
  const parts: string[] = [];
  let at = from;
  for (;;) {
    const token = tokens[at];
    const reference = token?.type === "template" ? referenceIn(token.text) : undefined;
    if (reference) return { name: reference, end: at + 1 };
    if (token?.type !== "word" && token?.type !== "quoted") break;
    if (parts.length === 0 && token.type === "word" && NOT_TABLES.has(lower(token))) break;
    parts.push(unquoted(token));
    at += 1;
    if (tokens[at]?.text !== ".") break;
    at += 1;
  }
  return { name: parts.length > 0 ? parts.join(".") : undefined, end: at };
}

/** Skips an alias to the next table of a list; -1 if there is none. */
function commaAfter(tokens: readonly SqlToken[], from: number): number {
  for (let at = from; at < from + 3; at += 1) {
    if (tokens[at]?.text === ",") return at + 1;
    if (tokens[at]?.type !== "word" && tokens[at]?.type !== "quoted") return -1;
  }
  return -1;
}

/** `{{ ref('orders') }}`, `{{ source('shop', 'orders') }}` */
export function referenceIn(template: string): string | undefined {
  const [, kind, first, second] =
    /\b(ref|source)\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"])?/.exec(template) ?? [];
  if (!kind || !first) return undefined;
  return kind === "source" && second ? `${first}.${second}` : (second ?? first);
}

const unquoted = ({ type, text }: SqlToken): string => (type === "quoted" ? text.slice(1, -1) : text);
