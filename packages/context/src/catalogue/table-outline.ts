import { readYaml } from "../formats/read-yaml.ts";
import { parseTableFile, tableFile, type TableFile } from "./table-file.ts";

const LEFT_OUT = {
  columns: true,
  primaryKey: true,
  uniqueKeys: true,
  verifiedKeys: true,
  checks: true,
  notes: true,
} as const;
const outline = tableFile.omit(LEFT_OUT);

/** Summary of a table: its description and joins. Omits the columns, which are most of a file. */
export type TableOutline = Omit<TableFile, keyof typeof LEFT_OUT> & { columnCount: number };

/** Undefined if the file cannot be parsed. Columns are only counted, because parsing them takes most of the time. */
export function readOutline(text: string): TableOutline | undefined {
  const parts = withoutColumns(text);
  const read = parts && readYaml(parts.rest, outline);
  if (read?.success) return { ...read.value, columnCount: parts!.count };
  // Another layout than ours, or broken.
  const parsed = parseTableFile(text);
  if (!parsed.success) return undefined;
  return { ...outline.parse(parsed.table), columnCount: parsed.table.columns.length };
}

/** Undefined if the columns are not a block list under one key. */
function withoutColumns(text: string): { rest: string; count: number } | undefined {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => /^columns:\s*(#.*)?$/.test(line));
  if (start === -1) return undefined;
  const next = lines.findIndex((line, index) => index > start && /^[^\s#-]/.test(line));
  const end = next === -1 ? lines.length : next;
  const body = lines.slice(start + 1, end);
  const [, bullet] = /^(\s*- )/.exec(body.find((line) => /^\s*[^\s#]/.test(line)) ?? "") ?? [];
  if (bullet === undefined) return undefined;
  const count = body.filter((line) => line.startsWith(bullet)).length;
  return { rest: [...lines.slice(0, start), ...lines.slice(end)].join("\n"), count };
}
