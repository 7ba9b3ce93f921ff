import { sqlTokens, type SqlToken } from "./sql-tokens.ts";

/** Tokens that precede a value, not a name. */
const BEFORE_VALUES = new Set("= < > like ilike in between then else values rlike regexp".split(" "));
const LIST_OPENERS = new Set(["in", "values", "any", "all"]);

/**
 * Removes the values from a query: they are private, and the same query with other values is the same query. Drops
 * strings, numbers and comments. Double-quoted text is a name or a string, depending on the dialect; it is kept only
 * where a name must be.
 */
export function redactSql(sql: string, all: readonly SqlToken[] = sqlTokens(sql)): string {
  const tokens = all.filter(({ type }) => type !== "comment");
  const solid = tokens.filter(({ type }) => type !== "space");
  const lists: boolean[] = [];
  const positions = new Positions();
  let seen = -1;
  const kept = tokens.map((token) => {
    if (token.type === "space") return " ";
    seen += 1;
    const before = solid[seen - 1]?.text.toLowerCase() ?? "";
    if (token.text === "(") lists.push(LIST_OPENERS.has(before));
    if (token.text === ")") lists.pop();
    if (positions.isPosition(token, before, solid[seen + 1]?.text.toLowerCase() ?? "")) return token.text;
    if (token.type === "string" || token.type === "number") return "?";
    if (token.type === "quoted" && isValue(token, before, solid[seen + 1]?.text ?? "", lists.at(-1) ?? false))
      return "?";
    return token.text;
  });
  return (
    kept
      .join("")
      .replaceAll(/\s+/g, " ")
      .replaceAll(/- ?\?/g, "?")
      // Lists of any length are the same query.
      .replaceAll(/\(\s*\?(?:\s*,\s*\?)+\s*\)/g, "(?)")
      .replaceAll(/(\(\?\))(?:\s*,\s*\(\?\))+/g, "$1")
      .replace(/[\s;]+$/, "")
      .trim()
  );
}

const ENDS_ITEM = new Set([
  "",
  ",",
  ")",
  ";",
  "asc",
  "desc",
  "nulls",
  ..."having order limit offset fetch union except intersect window for".split(" "),
]);

/** Finds numbers in `group by 1` and `order by 2 desc`: positions of columns, not values. */
class Positions {
  /** Whether the clause at each depth of parentheses is a list of columns. */
  readonly #clauses: boolean[] = [false];

  isPosition({ type, text }: SqlToken, before: string, after: string): boolean {
    const word = text.toLowerCase();
    if (word === "(") this.#clauses.push(false);
    else if (word === ")" && this.#clauses.length > 1) this.#clauses.pop();
    else if (word === "by") this.#clauses.splice(-1, 1, before === "group" || before === "order");
    else if (type === "number") {
      return this.#clauses.at(-1)! && /^\d{1,3}$/.test(text) && /^(by|,)$/.test(before) && ENDS_ITEM.has(after);
    } else if (type === "word" && CLAUSES.has(word)) this.#clauses.splice(-1, 1, false);
    return false;
  }
}

const CLAUSES = new Set("select from where having limit offset fetch union except intersect values set".split(" "));

function isValue({ text }: SqlToken, before: string, after: string, isInList: boolean): boolean {
  if (!text.startsWith('"')) return false;
  if (before === "." || after === ".") return false;
  return isInList || BEFORE_VALUES.has(before) || !/^"[\p{L}_][\p{L}\p{N}_$ ]*"$/u.test(text);
}

/** Values that people would not publish with their SQL: addresses, long numbers, keys. Other literals carry meaning. */
const PRIVATE = [
  /[^\s@'"]+@[^\s@'"]+\.[a-z]{2,}/i,
  /(?:\d[ ().-]?){7,}/,
  /\b(?:sk|pk|ghp|xox[abp]|AKIA)[-_]?[A-Za-z0-9-_]{12,}/,
  /^'?[A-Za-z0-9+/_=-]{32,}'?$/,
];
const DATE = /^'?\d{4}-\d{2}-\d{2}/;

/** For curated SQL: `status = 'paid'` is a definition and stays; values that look like personal data are removed. */
export function redactPrivate(sql: string): string {
  return sqlTokens(sql)
    .map(({ type, text }) => {
      if (type !== "string" && type !== "number" && type !== "comment") return text;
      if (type === "comment") return text.replaceAll(/[^\s@'"]+@[^\s@'"]+\.[a-z]{2,}/gi, "?");
      if (DATE.test(text) || !PRIVATE.some((form) => form.test(text))) return text;
      // A function body or an unterminated string: only redact private parts.
      return text.length > 200
        ? PRIVATE.reduce((rest, form) => rest.replaceAll(new RegExp(form, "gi"), "?"), text)
        : "?";
    })
    .join("");
}
