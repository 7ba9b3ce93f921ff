import { z } from "zod";
import { findValues, foundValues, type FoundValues } from "../values/find-values.ts";
import type { Match } from "../values/match-value.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";

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
      const structured = await findValues(catalogue, values, connection);
      return { markdown: describe(structured), structured };
    },
  });

const WORDS: Record<Match, (stored: string) => string> = {
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
