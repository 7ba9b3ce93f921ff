import { z } from "zod";
import { findValues, type FoundValue, type FoundValues } from "../values/find-values.ts";
import { MATCHES } from "../values/match-value.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";

const found = z.object({
  value: z.string(),
  connection: z.string(),
  table: z.string(),
  column: z.string(),
  /** The database's spelling. */
  stored: z.string(),
  match: z
    .enum(MATCHES)
    .describe(
      "exact; spelling: but for case, accents and punctuation; similar: a few letters differ; part: a longer value.",
    ),
});

export const foundValues = z.object({
  found: z.array(found),
  missing: z.array(z.string()),
  leftOut: z.int().describe("Matches beyond the limit per value."),
  incompleteColumns: z.int().describe("Columns with more values than the catalogue keeps."),
});

export const valueTool = (catalogue: CatalogueReader): ContextTool =>
  defineContextTool({
    name: "value_lookup",
    title: "Find which column holds a value",
    description:
      "Finds the columns that hold a value of the question, and how it is spelt there: which column holds `shipped`, `Bern` or `EUR`. Case, accents and typos do not matter; each match says whether it is exact or approximate. Use it before you filter by a literal, and filter by the stored spelling. All values of columns with up to 200 are known, and the labels of enums; of other columns a few examples. That nothing is found does not prove that there is none: ask the likely column with `sql_query` then.",
    input: z.object({ values: z.array(z.string().min(1).max(200)).min(1).max(20), connection: z.string().optional() }),
    output: foundValues,
    readOnly: true,
    run: async ({ values, connection }) => {
      const result = await findValues(catalogue, values, connection);
      return { markdown: describe(result), structured: { ...result } };
    },
  });

const WORDS: Record<FoundValue["match"], (stored: string) => string> = {
  exact: () => "exact",
  spelling: (stored) => `spelt ${stored}`,
  similar: (stored) => `approximate: did you mean ${stored}?`,
  part: (stored) => `approximate: part of ${stored}`,
};

function describe({ found, missing, leftOut, incompleteColumns }: FoundValues): string {
  const lines = found.map(
    ({ value, connection, table, column, stored, match }) =>
      `- ${JSON.stringify(value)}: ${connection}/${table}.${column} (${WORDS[match](JSON.stringify(stored))})`,
  );
  if (leftOut > 0) lines.push(`${leftOut} further matches are left out.`);
  if (missing.length > 0) {
    lines.push(`Not among the stored values: ${missing.map((value) => JSON.stringify(value)).join(", ")}.`);
    if (incompleteColumns > 0) lines.push(`${incompleteColumns} columns have more values than are stored.`);
  }
  return lines.join("\n");
}
