import { z } from "zod";
import type { ContextSearch } from "../search/context-search.ts";
import type { CatalogueReader } from "./catalogue-reader.ts";
import type { ContextTool } from "./context-tool.ts";
import { defineContextTool } from "./define-context-tool.ts";

const found = z.object({
  value: z.string(),
  connection: z.string(),
  table: z.string(),
  column: z.string(),
  /** The database's spelling. */
  stored: z.string(),
});

/** Maximum of columns checked per value. */
const COLUMNS = 20;

export const valueTool = (search: ContextSearch, catalogue: CatalogueReader): ContextTool =>
  defineContextTool({
    name: "value_lookup",
    title: "Find which column holds a value",
    description:
      "Finds the columns in whose sampled values a word of the question occurs, and how it is spelt there: which column holds `shipped`, `Bern` or `EUR`. Use it before you filter by a literal. Only sampled values are known: that nothing is found does not prove that there is none; ask the likely column with `sql_query` then.",
    input: z.object({ values: z.array(z.string().min(1).max(200)).min(1).max(20), connection: z.string().optional() }),
    output: z.object({ found: z.array(found), missing: z.array(z.string()) }),
    readOnly: true,
    run: async ({ values, connection }, { signal }) => {
      const all: z.output<typeof found>[] = [];
      for (const value of values) {
        const filters = connection === undefined ? {} : { filters: { connection } };
        const hits = await search.search({ text: value, kinds: ["value"], limit: COLUMNS, signal, ...filters });
        for (const { key } of hits) all.push(...(await spellings(catalogue, key, value)));
      }
      const known = new Set(all.map(({ value }) => value));
      const missing = values.filter((value) => !known.has(value));
      const lines = all.map(
        ({ value, connection, table, column, stored }) =>
          `- ${JSON.stringify(value)}: ${connection}/${table}.${column}${stored === value ? "" : ` (spelt ${JSON.stringify(stored)})`}`,
      );
      if (missing.length > 0)
        lines.push(`Not among the sampled values: ${missing.map((value) => JSON.stringify(value)).join(", ")}.`);
      return { markdown: lines.join("\n"), structured: { found: all, missing } };
    },
  });

/** The index finds likely columns; the catalogue confirms the value. */
async function spellings(catalogue: CatalogueReader, key: string, value: string) {
  const [connection, place] = splitOnce(key.slice("value:".length), "/");
  const outline = (await catalogue.outlines(connection)).find(({ schema, table }) =>
    place.startsWith(`${schema}.${table}.`),
  );
  const file = outline && (await catalogue.read(outline));
  const table = file && `${file.schema}.${file.table}`;
  const column = table && file.columns.find(({ name }) => `${table}.${name}` === place);
  if (!column) return [];
  const wanted = value.toLowerCase();
  return (column.profile?.samples ?? [])
    .map(String)
    .filter((sample) => sample.toLowerCase().includes(wanted))
    .map((stored) => ({ value, connection, table, column: column.name, stored }));
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
