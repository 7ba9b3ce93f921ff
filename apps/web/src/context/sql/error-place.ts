export interface ErrorPlace {
  /** Offsets in the statement. */
  from: number;
  to: number;
  /** Both begin at 1. */
  line: number;
  column: number;
}

const NAMED = [
  /syntax error at or near "((?:[^"]|"(?!\s|\.|$))+)"/i,
  /near "([^"]+)": syntax error/i,
  /no such (?:column|table|function): ([^\s]+?)\.?(?:\s|$)/i,
  /(?:column|relation|function) "?([\w.]+?)"?(?:\([^)]*\))? does not exist/i,
  /Referenced (?:column|table) "([^"]+)"/i,
  /(?:Table|Scalar Function) with name "?(\w+)"? does not exist/i,
  /Unknown (?:column|table) '([^']+)'/i,
  /Table '([^']+)' doesn't exist/i,
];
const MYSQL_SYNTAX = /near '([\s\S]*?)' at line (\d+)/i;

/**
 * The place that a database's message is about. Databases name a word, not an offset, so a word that occurs more than
 * once gives no place.
 */
export function errorPlace(sql: string, message: string): ErrorPlace | undefined {
  const [, rest, line] = MYSQL_SYNTAX.exec(message) ?? [];
  if (rest !== undefined && line !== undefined) return restPlace(sql, rest, Number(line));
  for (const pattern of NAMED) {
    const name = pattern.exec(message)?.[1];
    if (name === undefined) continue;
    return onlyPlace(sql, name) ?? onlyPlace(sql, name.split(".").at(-1)!);
  }
  return undefined;
}

/** MySQL quotes the rest of the statement, so its end is unique. */
function restPlace(sql: string, rest: string, line: number): ErrorPlace {
  const lineStart =
    sql
      .split("\n")
      .slice(0, line - 1)
      .join("\n").length + (line > 1 ? 1 : 0);
  const found = rest === "" ? -1 : sql.indexOf(rest, lineStart);
  const from = found === -1 ? lineStart : found;
  return placeAt(sql, from, from + (/^\w+|^\S/.exec(sql.slice(from))?.[0].length ?? 1));
}

function onlyPlace(sql: string, name: string): ErrorPlace | undefined {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const edge = (character: string) => (/\w/.test(character) ? String.raw`\b` : "");
  const found = [...sql.matchAll(new RegExp(`${edge(name[0] ?? "")}${escaped}${edge(name.at(-1) ?? "")}`, "gi"))];
  const [only] = found;
  return found.length === 1 && only ? placeAt(sql, only.index, only.index + only[0].length) : undefined;
}

function placeAt(sql: string, from: number, to: number): ErrorPlace {
  const before = sql.slice(0, from).split("\n");
  return { from, to, line: before.length, column: before.at(-1)!.length + 1 };
}
