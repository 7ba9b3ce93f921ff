import { parseTableFile } from "./table-file.ts";

/** The stored values of a column, as text. */
interface ColumnValues {
  column: string;
  values: readonly string[];
  /** Labels of an enum; some may have no rows. */
  labels: readonly string[];
  /** Every value of the column is stored. */
  isComplete: boolean;
}

export interface TableValues {
  schema: string;
  table: string;
  columns: readonly ColumnValues[];
}

/**
 * The values in a table's file. Undefined if it cannot be parsed. Reads our own layout line by line: a lookup reads all files,
 * and the YAML parser takes milliseconds for each.
 */
export function readColumnValues(text: string): TableValues | undefined {
  const quick = readLines(text);
  if (quick) return quick;
  const parsed = parseTableFile(text);
  if (!parsed.success) return undefined;
  const { schema, table, columns } = parsed.table;
  return {
    schema,
    table,
    columns: columns.map(({ name, labels = [], profile }) => ({
      column: name,
      values: profile?.samples?.map(String) ?? [],
      labels,
      isComplete: profile?.samplesAre === "all",
    })),
  };
}

/** Undefined for any other layout than ours. */
function readLines(text: string): TableValues | undefined {
  if (text.includes("\r")) return undefined;
  const names: Record<string, string | undefined> = {};
  const columns: { column: string; values: string[]; labels: string[]; isComplete: boolean }[] = [];
  let isInColumns = false;
  for (const line of text.split("\n")) {
    const top = /^(\w+):(?: (.*))?$/.exec(line);
    if (top) {
      isInColumns = top[1] === "columns";
      if (isInColumns && top[2] !== undefined) return undefined;
      if (top[1] === "schema" || top[1] === "table") names[top[1]] = scalar(top[2] ?? "");
      continue;
    }
    if (!isInColumns) continue;
    const field = /^ {2}(?:- | {2})(?: {2})?(\w+): (.*)$/.exec(line);
    if (!field) {
      if (/\b(?:name|samples|labels)\b.*:/.test(line)) return undefined;
      continue;
    }
    const [, key, given = ""] = field;
    const isNew = line.startsWith("  - ");
    if (isNew !== (key === "name")) return undefined;
    if (key === "name") {
      const column = scalar(given);
      if (column === undefined) return undefined;
      columns.push({ column, values: [], labels: [], isComplete: false });
    } else if (key === "samplesAre") columns.at(-1)!.isComplete = given === "all";
    else if (key === "samples" || key === "labels") {
      const list = flowList(given);
      if (!list) return undefined;
      columns.at(-1)![key === "samples" ? "values" : "labels"] = list;
    }
  }
  const { schema, table } = names;
  return schema === undefined || table === undefined ? undefined : { schema, table, columns };
}

/** One item of a YAML list on one line: quoted, or plain without special characters. */
const ITEM = /\s*(?:("(?:[^"\\]|\\.)*")|('(?:[^']|'')*')|([^\s,[\]{}"'#&*!|>%@`?][^,[\]{}#]*?))\s*([,\]])/y;

function flowList(text: string): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  if (/^\[\s*\]$/.test(text)) return [];
  const items: string[] = [];
  for (ITEM.lastIndex = 1; ;) {
    const found = ITEM.exec(text);
    if (!found) return undefined;
    const item = scalar(found[1] ?? found[2] ?? found[3]!);
    if (item === undefined) return undefined;
    items.push(item);
    if (found[4] !== "]") continue;
    return found.index + found[0].length === text.length ? items : undefined;
  }
}

function scalar(text: string): string | undefined {
  if (text.startsWith("'")) return /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : undefined;
  if (!text.startsWith('"')) return /^[^\s&*!|>%@`[{#?-][^#]*$|^-\S*$/.test(text) ? text : undefined;
  try {
    return String(JSON.parse(text));
  } catch {
    // YAML has escapes that JSON lacks.
    return undefined;
  }
}
