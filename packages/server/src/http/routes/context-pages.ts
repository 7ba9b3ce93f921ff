import { type Chunk, pageKeyOf, pagePath, parsePage } from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { pageThrough } from "../page-through.ts";
import { jsonRoute, type Route } from "../route.ts";
import { listOf, pageOf, pageQuery } from "../schemas/page.ts";

const pageSummary = z
  .object({
    key: z.string(),
    title: z.string(),
    summary: z.string(),
    tags: z.array(z.string()),
    refs: z.array(z.string()),
    citations: z.array(z.string()).meta({ description: "Of the passages that it rests on." }),
    problem: z.string().nullable().meta({ description: "Why it cannot be read as a page." }),
  })
  .meta({ id: "WikiPageSummary" });

const passage = z
  .object({
    citation: z.string(),
    source: z.string(),
    path: z.string(),
    sha256: z.string().meta({ description: "Of the document, as it was read last." }),
    title: z.string(),
    headings: z.array(z.string()),
    content: z.string(),
  })
  .meta({ id: "Passage" });

const wikiPage = pageSummary
  .extend({
    path: z.string(),
    body: z.string(),
    sources: z.array(
      z.object({
        citation: z.string(),
        path: z.string(),
        passage: passage.nullable().meta({ description: "As it was read last; null if it is not there any more." }),
        is_changed: z.boolean().meta({ description: "The passage is not the one any more that the page was made of." }),
      }),
    ),
  })
  .meta({ id: "WikiPage" });

const AROUND = 5;

/** The wiki, and the passages of documents that it rests on. */
export const contextPageRoutes: Route[] = [
  jsonRoute({
    name: "context.pages.list",
    method: "GET",
    path: "/v1/context/pages",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List the pages of the wiki, by their keys",
    query: z.strictObject({ ...pageQuery }),
    response: pageOf(pageSummary),
    handle: async (call) => {
      const { folder } = contextOf(call).context;
      const keys = (await folder.list("wiki/")).map(pageKeyOf).filter((key) => key !== undefined);
      const { data, next_page } = pageThrough(
        keys.map((id) => ({ id })),
        call.query,
      );
      const pages = await Promise.all(data.map(async ({ id }) => ({ id, text: await folder.read(pagePath(id)) })));
      // One may have gone since they were listed.
      return { data: pages.flatMap(({ id, text }) => (text === undefined ? [] : [summarise(id, text)])), next_page };
    },
  }),
  jsonRoute({
    name: "context.pages.retrieve",
    method: "GET",
    path: "/v1/context/page",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Read a page of the wiki, with the passages that it rests on",
    query: z.strictObject({ key: z.string().min(1).max(500) }),
    response: wikiPage,
    handle: async (call) => {
      const { key } = call.query;
      const { context } = contextOf(call);
      const path = pagePath(key);
      const text = await context.folder.read(path);
      if (text === undefined) throw new RequestError("not_found", `There is no page ${key}.`);
      const parsed = parsePage(key, text);
      const cited = parsed.success ? parsed.page.sources : [];
      const sources = await Promise.all(
        cited.map(async ({ citation, path: file, sha256 }) => {
          const [found] = await context.passages(citation, 0);
          return {
            citation,
            path: file,
            passage: found ? shown(found) : null,
            is_changed: found?.hash !== sha256 && found?.sha256 !== sha256,
          };
        }),
      );
      return { ...summarise(key, text), path, body: parsed.success ? parsed.page.body : text, sources };
    },
  }),
  jsonRoute({
    name: "context.passages.list",
    method: "GET",
    path: "/v1/context/passages",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Read a passage of a document by its citation, and what stands around it",
    query: z.strictObject({
      citation: z.string().min(1).max(1_000),
      around: z.coerce.number().int().min(0).max(AROUND).default(0),
    }),
    response: listOf(passage),
    handle: async (call) => {
      const { citation, around } = call.query;
      const found = await contextOf(call).context.passages(citation, around);
      if (found.length > 0) return { data: found.map(shown) };
      throw new RequestError("not_found", `There is no passage ${citation} (any more).`, {
        fix: "Its document has changed or gone since it was read.",
      });
    },
  }),
];

function summarise(key: string, text: string): z.output<typeof pageSummary> {
  const parsed = parsePage(key, text);
  if (!parsed.success) {
    const problem = parsed.problems.map(({ message }) => message).join(" ");
    return { key, title: key, summary: "", tags: [], refs: [], citations: [], problem };
  }
  const { title, summary, tags, refs, sources } = parsed.page;
  const citations = sources.map(({ citation }) => citation);
  return { key, title, summary, tags, refs, citations, problem: null };
}

/** Without what only the store needs. */
const shown = ({ hash: _hash, ...rest }: Chunk): z.output<typeof passage> => rest;
