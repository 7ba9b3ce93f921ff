import { parseTableFile } from "../../catalogue/table-file.ts";
import type { FileProblem } from "../../formats/file-problem.ts";
import type { Catalogue } from "../workbench/ingest-line.ts";

/** Problems of a table's file: its YAML, and joins between missing columns. */
export function checkTable(text: string, catalogue: Catalogue): FileProblem[] {
  const parsed = parseTableFile(text);
  if (!parsed.success) return parsed.problems;
  const { connection, columns, joins = [] } = parsed.table;
  const own = new Set(columns.map(({ name }) => name));
  return joins.flatMap(({ columns: from, to, toColumns }): FileProblem[] => {
    const target = catalogue.get(`${connection}/${to}`);
    const there = new Set(target?.columns.map(({ name }) => name));
    const missing = [
      ...from.filter((name) => !own.has(name)),
      ...(target ? toColumns.filter((name) => !there.has(name)).map((name) => `${to}.${name}`) : [to]),
    ];
    if (missing.length === 0 && from.length === toColumns.length) return [];
    const message =
      missing.length > 0
        ? `A join names unknown tables or columns: ${missing.join(", ")}.`
        : `A join pairs ${from.length} columns with ${toColumns.length}.`;
    return [{ type: "unknown_join", line: undefined, message }];
  });
}
