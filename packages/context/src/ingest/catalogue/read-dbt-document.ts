import type { Chunk } from "../evidence/document-record.ts";

/** A dbt document's statements about a table, with their passages. */
export interface DbtTable {
  /** Name in the document: `shop.public.orders`, or the model's name if the project does not know the table. */
  relation: string;
  description: string;
  columns: { name: string; description: string }[];
  joins: { column: string; to: string; toColumn: string }[];
  /** Passages by subject. */
  cited: { description: Chunk | undefined; columns: Chunk[]; joins: Chunk[] };
}

const KIND = /^A dbt (model|seed|snapshot|source)\.$/;
const JOIN = /^- `([^`]+)\.([^`.]+)` refers to `([^`]+)\.([^`.]+)` \(relationships test\)$/;

/**
 * Parses the Markdown that a dbt source makes of a node. Undefined for other documents than tables: metrics, exposures,
 * notes.
 */
export function readDbtDocument(title: string, chunks: readonly Chunk[]): DbtTable | undefined {
  const top = chunks.find(({ headings }) => headings.length === 0);
  const blocks = top?.content.split("\n\n") ?? [];
  if (!KIND.test(blocks[0] ?? "")) return undefined;
  const facts = blocks.findIndex((block) => /^- (Table|Built from|Tags): /.test(block));
  const table = /^- Table: `([^`]+)`$/m.exec(facts === -1 ? "" : blocks[facts]!)?.[1];
  const under = (heading: string) => chunks.filter(({ headings }) => headings.length === 1 && headings[0] === heading);
  const [columns, joins] = [under("Columns"), under("Joins")];
  return {
    relation: table ?? title.replace(/ \(dbt \w+\)$/, ""),
    description: blocks
      .slice(1, facts === -1 ? undefined : facts)
      .join(" ")
      .replaceAll(/\s+/g, " ")
      .trim(),
    columns: columns.flatMap(({ content }) => columnsIn(content)),
    joins: joins.flatMap(({ content }) => content.split("\n").flatMap(joinIn)),
    cited: { description: top, columns, joins },
  };
}

function columnsIn(table: string): { name: string; description: string }[] {
  return table
    .split("\n")
    .slice(2)
    .flatMap((row) => {
      const cells = row.split(/(?<!\\)\|/).slice(1, -1);
      const [name, , description] = cells.map((cell) => cell.replaceAll("\\|", "|").trim());
      return cells.length === 4 && name ? [{ name, description: description! }] : [];
    });
}

function joinIn(line: string): { column: string; to: string; toColumn: string }[] {
  const [, , column, to, toColumn] = JOIN.exec(line) ?? [];
  return column && to && toColumn ? [{ column, to, toColumn }] : [];
}
