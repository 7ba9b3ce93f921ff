import { searchHit } from "@tandem/protocol";
import { z } from "zod";
import type { ContextHit, SearchView } from "../search/context-search.ts";
import { described, SEARCH_KINDS } from "../search/documents.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";
import { groupHits, tablesIn } from "./group-hits.ts";
import { relatedTables } from "./related-tables.ts";

/** Hits are grouped, so that more are needed than groups are wanted. */
const HITS_PER_GROUP = 5;
const MOST_RELATED = 8;

export const searchAnswer = z.object({
  hits: z.array(searchHit),
  related: z
    .array(z.object({ key: z.string(), description: z.string(), joinedTo: z.array(z.string()) }))
    .optional()
    .describe("Tables that join to the found ones."),
  degraded: z.string().optional().describe("Why it was looked for by words alone, and not by meaning too."),
});

export const searchTool = (search: SearchView, catalogue?: CatalogueReader): ContextTool =>
  defineContextTool({
    name: "context_search",
    title: "Search the context",
    description:
      "Finds reviewed knowledge about this organisation's data and documents: metrics, tables, columns, sampled values, wiki pages with agreed definitions, and memories. Begin here whenever a question touches the database or a term of the business, before you write SQL or assume what a word means. Search for the words of the question, in any language; names of tables and columns work too. Hits are grouped by page and table, and followed by tables that join to those. Then read them: `metric_query` computes metric: keys, `page_read` for page:, memory: and chunk: keys, `table_describe` for table:, column: and value: keys. A hit marked UNREVIEWED is a passage of a document that no person has checked: do not rely on it without saying so.",
    input: z.object({
      query: z.string().min(1).max(2_000).describe("Words to look for."),
      kinds: z
        .array(z.enum(SEARCH_KINDS))
        .optional()
        .describe("Only these kinds; without it, all. `chunk`: unreviewed passages, if the project allows them."),
      connection: z.string().optional().describe("Only tables of this connection."),
      limit: z.int().min(1).max(50).default(10),
    }),
    output: searchAnswer,
    readOnly: true,
    run: async ({ query, kinds, connection, limit }, { signal, agent }) => {
      const { hits, degraded } = await search.find({
        text: query,
        limit: limit * HITS_PER_GROUP,
        signal,
        agent,
        ...(kinds && { kinds }),
        ...(connection !== undefined && { filters: { connection } }),
      });
      const groups = groupHits(hits, limit);
      const room = Math.min(limit - groups.length, MOST_RELATED);
      const isForTables = kinds?.includes("table") ?? true;
      const related =
        catalogue && room > 0 && isForTables
          ? await relatedTables(catalogue, tablesIn(groups), room, ({ descriptions }) => described(descriptions))
          : [];
      const lines = groups.flatMap(({ also, ...hit }) => [
        `- ${lineOf(hit)}\n  ${hit.snippet.replaceAll("\n", " ")}`,
        ...also.map((each) => `  - ${lineOf(each)}`),
      ]);
      if (related.length > 0) {
        const names = related.map(({ key, description }) => `  - \`${key}\` ${description}`);
        lines.push("- Tables that join to these:", ...names);
      }
      const found = lines.length > 0 ? lines.join("\n") : nothingFound(search, kinds);
      return {
        markdown: degraded === undefined ? found : `${found}\n\nLooked for by words alone: ${degraded}`,
        structured: {
          ...(degraded !== undefined && { degraded }),
          ...(related.length > 0 && { related }),
          hits: groups.map(({ key, kind, title, snippet, score, unreviewed, also }) => ({
            key,
            kind,
            title,
            snippet,
            score,
            ...(unreviewed && { unreviewed }),
            ...(also.length > 0 && { also }),
          })),
        },
      };
    },
  });

const lineOf = ({ key, title, unreviewed }: ContextHit): string =>
  `\`${key}\` ${title}${unreviewed ? ` (UNREVIEWED, from ${unreviewed.source}: ${unreviewed.path})` : ""}`;

function nothingFound(search: SearchView, kinds: readonly string[] | undefined): string {
  return kinds?.every((kind) => kind === "chunk") && !search.kinds.includes("chunk")
    ? "Unreviewed passages are not searched: the setting context.search.unreviewed is off."
    : "Nothing was found. Try other or fewer words.";
}
