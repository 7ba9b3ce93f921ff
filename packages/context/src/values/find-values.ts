import { z } from "zod";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { foldValue, type Match, MATCHES, ValueMatcher } from "./match-value.ts";

export const foundValues = z.object({
  found: z.array(
    z.object({
      value: z.string(),
      connection: z.string(),
      /** `schema.table`. */
      table: z.string(),
      column: z.string(),
      /** The database's spelling. */
      stored: z.string(),
      match: z
        .enum(MATCHES)
        .describe(
          "exact; spelling: but for case, accents and punctuation; similar: a few letters differ; part: a longer value.",
        ),
    }),
  ),
  missing: z.array(z.string()),
  leftOut: z.int().describe("Matches beyond the limit per value."),
  incompleteColumns: z.int().describe("Columns with more values than the catalogue keeps."),
});
export type FoundValues = z.output<typeof foundValues>;

/** Most matches per value: the same value may be in many columns, but few approximate ones help. */
const MOST = { sure: 50, approximate: 10 };

/** Looks values up in everything that the catalogue keeps of the columns, and in the labels of enums. */
export async function findValues(
  catalogue: Pick<CatalogueReader, "connections" | "values">,
  values: readonly string[],
  connection?: string,
): Promise<FoundValues> {
  const wanted = [...new Set(values)].map((value) => ({ value, matcher: new ValueMatcher(value), hits: [] as Hit[] }));
  const stored: Stored[] = [];
  let incompleteColumns = 0;
  for (const name of connection === undefined ? await catalogue.connections() : [connection]) {
    for (const { schema, table, columns } of await catalogue.values(name)) {
      for (const { column, values: known, labels, isComplete } of columns) {
        if (known.length > 0 && !isComplete) incompleteColumns += 1;
        for (const text of new Set([...known, ...labels])) {
          stored.push({
            text,
            folded: foldValue(text),
            place: { connection: name, table: `${schema}.${table}`, column },
          });
        }
      }
    }
  }
  for (const { matcher, hits } of wanted) {
    for (const each of stored) {
      const match = matcher.match(each.text, each.folded);
      if (match) hits.push({ ...each, match, typos: 0 });
    }
    if (hits.some(isSure)) continue;
    for (const each of stored) {
      const typos = matcher.typos(each.folded);
      if (typos !== undefined && typos > 0) hits.push({ ...each, match: "similar", typos });
    }
  }
  const ranked = wanted.map(({ value, hits }) => {
    const [sure, approximate] = [hits.filter(isSure), hits.filter((hit) => !isSure(hit))];
    const shown = [
      ...sure.toSorted(byCloseness).slice(0, MOST.sure),
      ...approximate.toSorted(byCloseness).slice(0, MOST.approximate),
    ];
    return { value, shown, leftOut: hits.length - shown.length };
  });
  return {
    found: ranked.flatMap(({ value, shown }) =>
      shown.map(({ place, text, match }) => ({ value, ...place, stored: text, match })),
    ),
    missing: ranked.filter(({ shown }) => shown.length === 0).map(({ value }) => value),
    leftOut: ranked.reduce((sum, { leftOut }) => sum + leftOut, 0),
    incompleteColumns,
  };
}

interface Stored {
  text: string;
  folded: string;
  place: { connection: string; table: string; column: string };
}

interface Hit extends Stored {
  match: Match;
  typos: number;
}

const isSure = ({ match }: Hit): boolean => match === "exact" || match === "spelling";

/** Short values first among those that contain the words. */
const byCloseness = (a: Hit, b: Hit): number =>
  MATCHES.indexOf(a.match) - MATCHES.indexOf(b.match) || a.typos - b.typos || a.text.length - b.text.length;
