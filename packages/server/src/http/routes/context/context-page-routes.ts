import type { Chunk, parsePage } from "@tandem/context";
import { type Passage, RequestError, type WikiPageSummary } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { hasScope } from "../../access/authorize.ts";
import { contextOf, loadContext } from "../../context-of.ts";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** The wiki, and the passages of documents that it cites. */
export const contextPageRoutes: Route[] = [
  jsonRoute("context.pages.list", {
    scope: "read",
    at: "context",
    summary: "List the pages of the wiki by key",
    handle: async (call) => {
      const { folder } = contextOf(call).context;
      const { pageKeyOf, pagePath, parsePage: parse } = await loadContext();
      const keys = (await folder.list("wiki/")).map(pageKeyOf).filter((key) => key !== undefined);
      const { data, next_page } = pageThrough(
        keys.map((id) => ({ id })),
        call.query,
      );
      const pages = await Promise.all(data.map(async ({ id }) => ({ id, text: await folder.read(pagePath(id)) })));
      // A page may have been deleted since it was listed.
      return {
        data: pages.flatMap(({ id, text }) => (text === undefined ? [] : [summarise(id, parse(id, text))])),
        next_page,
      };
    },
  }),
  jsonRoute("context.pages.retrieve", {
    scope: "read",
    at: "context",
    summary: "Read a page of the wiki, with the passages that support it",
    handle: async (call) => {
      const { key } = call.query;
      const { context } = contextOf(call);
      const { pagePath, parsePage: parse } = await loadContext();
      const path = pagePath(key);
      const text = await context.folder.read(path);
      if (text === undefined) throw new RequestError("not_found", `There is no page ${key}.`);
      const parsed = parse(key, text);
      const cited = parsed.success ? parsed.page.sources : [];
      const sources = await Promise.all(
        cited.map(async ({ citation, path: file, sha256 }) => {
          const [found] = await context.passages(citation, 0, readerOf(call));
          return {
            citation,
            path: file,
            passage: found ? shown(found) : null,
            is_changed: found?.hash !== sha256 && found?.sha256 !== sha256,
          };
        }),
      );
      return { ...summarise(key, parsed), path, body: parsed.success ? parsed.page.body : text, sources };
    },
  }),
  jsonRoute("context.passages.list", {
    scope: "read",
    at: "context",
    summary: "Read a passage of a document by its citation, with the surrounding text",
    handle: async (call) => {
      const { citation, around } = call.query;
      const found = await contextOf(call).context.passages(citation, around, readerOf(call));
      if (found.length > 0) return { data: found.map(shown) };
      throw new RequestError("not_found", `There is no passage ${citation} (any more).`, {
        fix: "Its document has changed or gone since it was read.",
      });
    },
  }),
];

/** A caller that may decide proposals sees their evidence, suspicious or not. */
const readerOf = ({ token }: { token: TokenRow }) => ({ isReviewer: hasScope(token, "run") });

function summarise(key: string, parsed: ReturnType<typeof parsePage>): WikiPageSummary {
  if (!parsed.success) {
    const problem = parsed.problems.map(({ message }) => message).join(" ");
    return { key, title: key, summary: "", tags: [], refs: [], citations: [], problem };
  }
  const { title, summary, tags, refs, sources } = parsed.page;
  const citations = sources.map(({ citation }) => citation);
  return { key, title, summary, tags, refs, citations, problem: null };
}

/** Omits fields that only the store needs. */
const shown = ({ hash: _hash, ...rest }: Chunk): Passage => rest;
