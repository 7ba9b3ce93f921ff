/** The clauses of the last SELECT of a statement, as text. */
export interface SplitSelect {
  /** `WITH a AS (…), b AS (…)`, or empty. */
  readonly named: string;
  /** From `FROM` up to and without `GROUP BY`, `HAVING`, `ORDER BY` and the like. */
  readonly rows: string;
}

// Strings, quoted names, comments and dollar-quoted text hide their content. Numbers and words are whole.
const TOKEN =
  /'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$|[A-Za-z_][\w$]*|[\s\S]/g;
const ENDS = new Set(["group", "having", "order", "limit", "window", "qualify", "offset", "fetch", "for"]);
const SETS = new Set(["union", "intersect", "except"]);

/** Undefined if the statement is a set operation, has no FROM, or has text that is read differently in some dialects. */
export function splitSelect(sql: string): SplitSelect | undefined {
  // A backslash in a string ends it in some dialects and not in others; `#` and `[` begin comments and names in some.
  if (/[\\#[]/.test(sql)) return undefined;
  let depth = 0;
  const words: { word: string; at: number }[] = [];
  for (const match of sql.matchAll(TOKEN)) {
    const [text] = match;
    if (text === "(") depth += 1;
    else if (text === ")") depth -= 1;
    else if (depth === 0 && /^[A-Za-z_]/.test(text)) words.push({ word: text.toLowerCase(), at: match.index });
  }
  if (words.some(({ word }) => SETS.has(word))) return undefined;
  const select = words.findIndex(({ word }) => word === "select");
  const from = words.findIndex(({ word }, at) => at > select && word === "from");
  if (select < 0 || from < 0 || words.some(({ word }, at) => word === "select" && at !== select)) return undefined;
  const end = words.find(({ word }, at) => at > from && ENDS.has(word))?.at ?? sql.length;
  return {
    named: sql.slice(0, words[select]!.at).trim(),
    rows: sql.slice(words[from]!.at, end).replace(/;\s*$/, "").trim(),
  };
}
