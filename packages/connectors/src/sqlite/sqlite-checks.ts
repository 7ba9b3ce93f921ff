import { checkCondition } from "../check-condition.ts";

const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\w+|[()]|[^\w]/g;

/** The check constraints in a `CREATE TABLE` statement: SQLite keeps them only there. */
export function checksIn(sql: string): string[] {
  const tokens = [...sql.matchAll(TOKEN)].map(([token]) => token).filter((token) => !/^(?:--|\/\*)/.test(token));
  const checks: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (!/^check$/i.test(tokens[at]!)) continue;
    let from = at + 1;
    while (/^\s$/.test(tokens[from] ?? "")) from += 1;
    if (tokens[from] !== "(") continue;
    let to = from;
    for (let depth = 0; to < tokens.length; to += 1) {
      if (tokens[to] === "(") depth += 1;
      if (tokens[to] === ")" && --depth === 0) break;
    }
    checks.push(checkCondition(tokens.slice(from, to + 1).join("")));
    at = to;
  }
  return checks;
}
