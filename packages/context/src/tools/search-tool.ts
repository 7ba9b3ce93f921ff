import { z } from "zod";
import type { ContextSearch } from "../search/context-search.ts";
import { SEARCH_KINDS } from "../search/documents.ts";
import type { ContextTool } from "./context-tool.ts";
import { defineContextTool } from "./define-context-tool.ts";

export const searchHit = z.object({
  key: z.string(),
  kind: z.string(),
  title: z.string(),
  snippet: z.string(),
  score: z.number(),
});

export const searchTool = (search: ContextSearch): ContextTool =>
  defineContextTool({
    name: "context_search",
    title: "Search the context",
    description:
      "Finds what is known about this organisation's data and documents: tables, columns, sampled values, wiki pages with agreed definitions, and memories. Begin here whenever a question touches the database or a term of the business, before you write SQL or assume what a word means. Search for the words of the question, in any language; names of tables and columns work too. Then read what was found: `page_read` for page: and memory: keys, `table_describe` for table: and column: keys.",
    input: z.object({
      query: z.string().min(1).max(2_000).describe("Words to look for."),
      kinds: z.array(z.enum(SEARCH_KINDS)).optional().describe("Only these kinds; all where absent."),
      connection: z.string().optional().describe("Only tables of this connection."),
      limit: z.int().min(1).max(50).default(10),
    }),
    output: z.object({
      hits: z.array(searchHit),
      degraded: z.string().optional().describe("Why it was looked for by words alone, and not by meaning too."),
    }),
    readOnly: true,
    run: async ({ query, kinds, connection, limit }, { signal, agent }) => {
      const { hits, degraded } = await search.find({
        text: query,
        limit,
        signal,
        agent,
        ...(kinds && { kinds }),
        ...(connection !== undefined && { filters: { connection } }),
      });
      const lines = hits.map(({ key, title, snippet }) => `- \`${key}\` ${title}\n  ${snippet.replaceAll("\n", " ")}`);
      const found = lines.length > 0 ? lines.join("\n") : "Nothing was found. Try other or fewer words.";
      return {
        markdown: degraded === undefined ? found : `${found}\n\nLooked for by words alone: ${degraded}`,
        structured: {
          ...(degraded !== undefined && { degraded }),
          hits: hits.map(({ key, kind, title, snippet, score }) => ({ key, kind, title, snippet, score })),
        },
      };
    },
  });
