import type { Change, Hunk } from "./proposal-api.ts";

/** One line of a table's file, with the column or join that it belongs to. */
interface FileFact {
  /** Empty for the table itself. */
  subject: string;
  field: string;
  value: string;
}

/** A fact of a table that a hunk adds, changes or removes. */
export interface TableFact {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

export interface FactGroup {
  /** A definition of a metrics file. Other groups are columns, joins or the table. */
  kind?: string;
  subject: string;
  facts: TableFact[];
  /** Figures of the data, such as counts and samples. */
  figures: TableFact[];
}

const FIELD_LABELS: Readonly<Record<string, string>> = {
  "descriptions.ai": "description (by a model)",
  "descriptions.human": "description (by a person)",
  "descriptions.db": "comment in the database",
  primaryKey: "primary key",
  uniqueKeys: "unique keys",
};
/** The path of the file or the heading says these. */
const NAMED_ABOVE = new Set(["connection", "schema", "table", "name", "columns", "to", "toColumns"]);
const LINE = /^(\s*)(- )?(?:([\w$.-]+):(?:\s+(.*))?|(.*))$/;
const BLOCK = /^[>|][+-]?$/;

/**
 * Reads the files that Tandem writes for tables, line by line: the place of a fact is its indentation. Unusual lines
 * give no fact; the reviewer then sees the source.
 */
function readFacts(text: string): (FileFact | undefined)[] {
  const lines = text.split("\n");
  const entries = subjectsOf(lines);
  const path: { indent: number; key: string }[] = [];
  let last: FileFact | undefined;
  return lines.map((line, at) => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return undefined;
    const [, space = "", dash = "", key, value = "", rest] = LINE.exec(line) ?? [];
    if (key === undefined) {
      // The continuation of a long text.
      if (last && rest !== undefined) last.value = [last.value, line.trim()].filter((part) => part !== "").join(" ");
      return last;
    }
    const indent = space.length + dash.length;
    while (path.length > 0 && path.at(-1)!.indent >= indent) path.pop();
    path.push({ indent, key });
    const isEntry = path[0]!.key === "columns" || path[0]!.key === "joins";
    if (isEntry && path.length === 1) return (last = undefined);
    const field = path.slice(isEntry ? 1 : 0).map((part) => part.key);
    last = { subject: isEntry ? (entries[at] ?? "") : "", field: field.join("."), value: plainValue(value) };
    return last;
  });
}

/** The column or join of each line. */
function subjectsOf(lines: readonly string[]): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  let section = "";
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    section = /^([\w$.-]+):/.exec(line)?.[1] ?? section;
    const isStart = /^\s*- /.test(line) && (section === "columns" || section === "joins") && /^ {0,2}- /.test(line);
    if (/^\S/.test(line)) found[at] = undefined;
    else if (isStart) {
      let end = at + 1;
      while (end < lines.length && /^ {3,}/.test(lines[end]!)) end += 1;
      found[at] = section === "columns" ? columnOf(line) : joinOf(lines.slice(at, end));
    } else found[at] = found[at - 1];
  }
  return found;
}

const columnOf = (line: string): string => plainValue(/name:\s*([^,}]+)/.exec(line)?.[1]?.trim() ?? "a column");

function joinOf(lines: readonly string[]): string {
  const read = (key: string): string =>
    new RegExp(String.raw`[\s{]${key}:\s*(\[[^\]]*\]|[^,}]+)`).exec(lines.join("\n"))?.[1]?.split("\n")[0]?.trim() ??
    "?";
  const bare = (list: string): string => list.replaceAll(/[[\]]/g, "");
  return `${bare(read("columns"))} → ${read("to")} (${bare(read("toColumns"))})`;
}

function plainValue(text: string): string {
  const value = text.trim();
  if (BLOCK.test(value)) return "";
  if (/^".*"$/s.test(value)) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value;
    }
  }
  return /^'.*'$/s.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}

/** Whether a change is about the file of a table. */
export const isTableFile = ({ path }: Pick<Change, "path">): boolean => /^catalogue\/[^/]+\/.+\.yaml$/.test(path);

/** Whether a change is about a file of metrics. */
export const isMetricsFile = ({ path }: Pick<Change, "path">): boolean => /^metrics\/[^/]+\/[^/]+\.yaml$/.test(path);

/** The facts of a hunk by column and join. Undefined if some line is not understood. */
export function factsOf(change: Pick<Change, "before" | "after">, hunk: Hunk): FactGroup[] | undefined {
  const before = pick(change.before, hunk.old_start, hunk.old_lines.length);
  const after = pick(change.after, hunk.new_start, hunk.new_lines.length);
  const groups = new Map<string, FactGroup>();
  const put = (fact: FileFact, side: "before" | "after"): void => {
    const group = groups.get(fact.subject) ?? { subject: fact.subject, facts: [], figures: [] };
    groups.set(fact.subject, group);
    // A key without a value only opens a section.
    if (fact.value === "" || NAMED_ABOVE.has(fact.field)) return;
    const isFigure = fact.field.startsWith("profile") || fact.field === "rows";
    const list = isFigure ? group.figures : group.facts;
    const field = FIELD_LABELS[fact.field] ?? fact.field.replace(/^profile\./, "");
    const known = list.find((each) => each.field === field);
    if (known) known[side] = fact.value;
    else list.push({ field, before: undefined, after: undefined, [side]: fact.value });
  };
  for (const fact of before) put(fact, "before");
  for (const fact of after) put(fact, "after");
  return groups.size > 0 ? [...groups.values()] : undefined;
}

function pick(text: string | null, start: number, count: number): FileFact[] {
  if (text === null || count === 0) return [];
  return [...new Set(readFacts(text).slice(start - 1, start - 1 + count))].filter((fact) => fact !== undefined);
}
