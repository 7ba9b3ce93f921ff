import { z } from "zod";
import { count, listOf, pageOf, pageQuery } from "../page.ts";

const pageSummary = z
  .object({
    key: z.string(),
    title: z.string(),
    summary: z.string(),
    tags: z.array(z.string()),
    refs: z.array(z.string()),
    citations: z.array(z.string()).meta({ description: "Of the passages that support it." }),
    problem: z.string().nullable().meta({ description: "Why it cannot be read as a page." }),
  })
  .meta({ id: "WikiPageSummary" });
export type WikiPageSummary = z.infer<typeof pageSummary>;

const passage = z
  .object({
    citation: z.string(),
    source: z.string(),
    path: z.string(),
    sha256: z.string().meta({ description: "Of the document, as last read." }),
    title: z.string(),
    headings: z.array(z.string()),
    content: z.string(),
  })
  .meta({ id: "Passage" });
export type Passage = z.infer<typeof passage>;

const wikiPage = pageSummary
  .extend({
    path: z.string(),
    body: z.string(),
    sources: z.array(
      z.object({
        citation: z.string(),
        path: z.string(),
        passage: passage.nullable().meta({ description: "As last read; null if it no longer exists." }),
        is_changed: z.boolean().meta({ description: "The passage has changed since the page was written." }),
      }),
    ),
  })
  .meta({ id: "WikiPage" });
export type WikiPage = z.infer<typeof wikiPage>;

const AROUND = 5;

export const contextPagesApi = {
  "context.pages.list": { query: z.strictObject({ ...pageQuery }), response: pageOf(pageSummary) },
  "context.pages.retrieve": { query: z.strictObject({ key: z.string().min(1).max(500) }), response: wikiPage },
  "context.passages.list": {
    query: z.strictObject({ citation: z.string().min(1).max(1_000), around: count().min(0).max(AROUND).default(0) }),
    response: listOf(passage),
  },
};
