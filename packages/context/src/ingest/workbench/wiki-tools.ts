import { nearest, TandemError } from "@tandem/protocol";
import { defineTool, type Tool, type ToolOutput } from "@tandem/runtime";
import { z } from "zod";
import { oneLine } from "../../catalogue/one-line.ts";
import { citationsIn } from "../../wiki/check-page.ts";
import { isPageKey, type PageFile, pageKeyFrom, pageKeyOf, pagePath, renderPage } from "../../wiki/page-file.ts";
import { asQuotation } from "../../untrusted/as-quotation.ts";
import type { EvidenceStore } from "./evidence-store.ts";
import { uncitedBlocks } from "./page-blocks.ts";
import type { Workbench } from "./workbench.ts";

const MAX_BODY = 40_000;

export interface WikiParts {
  bench: Workbench;
  evidenceStore: EvidenceStore;
  /** Whether the catalogue contains `connection/schema.table`. */
  hasTable: (name: string) => boolean;
  /** The answer instead of a write; undefined if the write is allowed. */
  refusal?: (write: { key: string; isNew: boolean } | { key: string; isGone: true }) => string | undefined;
  onWrite?: (key: string, isNew: boolean) => void;
}

/** Tools that read the wiki. */
export const wikiReadTools = ({ bench }: Pick<WikiParts, "bench">): Tool[] => [
  defineTool({
    name: "wiki_read",
    description:
      "Reads a page of the wiki whole, with its front matter. A page that exists can only be changed after it was read.",
    schema: z.object({ key: z.string().min(1).max(200) }),
    execute: async ({ key: given }) => {
      const key = plainKey(given);
      const text = await bench.read(pagePath(key));
      if (text === undefined) throw await noPage(bench, key);
      bench.markSeen(pagePath(key));
      return { markdown: asQuotation("page", { key }, text) };
    },
  }),
  defineTool({
    name: "wiki_search",
    description:
      "Finds pages of the wiki by words in their title, summary, tags and text. Look here before you write a new page: its subject may have one.",
    schema: z.object({ query: z.string().min(1).max(500), limit: z.int().min(1).max(30).default(10) }),
    execute: async ({ query, limit }) => {
      const found = rank(await bench.pages(), query).slice(0, limit);
      const lines = found.map((page) => `- \`${page.key}\` ${page.title}: ${page.summary}`);
      return { markdown: lines.length > 0 ? asQuotation("pages", {}, lines.join("\n")) : "No page was found." };
    },
  }),
  defineTool({
    name: "wiki_list_tags",
    description:
      "Lists the tags of the wiki with the number of their pages. Use those that are there before you make new ones.",
    schema: z.object({}),
    execute: async () => {
      const counts = new Map<string, number>();
      for (const { tags } of await bench.pages()) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      const lines = [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      if (lines.length === 0) return { markdown: "There are no tags yet." };
      return { markdown: asQuotation("tags", {}, lines.map(([tag, count]) => `- ${tag} (${count})`).join("\n")) };
    },
  }),
];

/** Tools that change the wiki. Every statement must cite an existing passage. */
export const wikiWriteTools = (parts: WikiParts): Tool[] => [
  defineTool({
    name: "wiki_write",
    description:
      "Writes a page whole: a new one, or one that you have read before, with all of its text that is to stay. Each paragraph, list and table ends with citations of the passages that it rests on: [^handbook/refunds#policy].",
    schema: z.object({
      key: z.string().min(1).max(200).describe("Small letters, digits and -; / for folders: orders/late-delivery"),
      title: z.string().min(1).max(200),
      summary: z.string().min(1).max(500).describe("One sentence that says the answer."),
      tags: z.array(z.string().min(1).max(60)).max(12).default([]),
      refs: z
        .array(z.string().min(1).max(300))
        .max(40)
        .default([])
        .describe("page:KEY or table:CONNECTION/SCHEMA.TABLE"),
      body: z.string().min(1).max(MAX_BODY).describe("Markdown, without front matter."),
      because: z
        .array(z.string().min(1).max(500))
        .max(20)
        .default([])
        .describe("Citations that show why something was taken out or changed, if the text does not cite them."),
    }),
    execute: (input) => writePage(parts, input),
  }),
  defineTool({
    name: "wiki_remove",
    description:
      "Removes a page: when its subject is covered by another one, or nothing that it rests on holds any more.",
    schema: z.object({
      key: z.string().min(1).max(200),
      reason: z.string().min(1).max(500),
      citations: z.array(z.string().min(1).max(500)).min(1).max(20).describe("Passages that show why it goes."),
    }),
    execute: async ({ key: given, citations }) => {
      const { bench, evidenceStore, refusal } = parts;
      const key = plainKey(given);
      const text = await bench.read(pagePath(key));
      if (text === undefined) throw await noPage(bench, key);
      const refused = refusal?.({ key, isGone: true });
      if (refused !== undefined) return { markdown: refused };
      const own = new Set((await bench.page(key))?.sources.map(({ citation }) => citation));
      await evidenceStore.require(citations.filter((citation) => !own.has(citation)));
      const linked = (await bench.pages()).filter((page) => page.refs.includes(`page:${key}`)).map((page) => page.key);
      await bench.remove(pagePath(key), citations);
      const left = linked.length > 0 ? ` These pages still refer to it, change them too: ${linked.join(", ")}.` : "";
      return { markdown: `${key} is removed.${left}` };
    },
  }),
];

interface PageInput {
  key: string;
  title: string;
  summary: string;
  tags: string[];
  refs: string[];
  body: string;
  because: string[];
}

async function writePage(parts: WikiParts, input: PageInput): Promise<ToolOutput> {
  const { bench, evidenceStore, refusal, onWrite } = parts;
  const key = plainKey(input.key);
  if (!isPageKey(key)) {
    const meant = pageKeyFrom(key);
    throw new TandemError("bad_key", `${key} cannot be a page's key.${meant ? ` Use ${meant}.` : ""}`);
  }
  const path = pagePath(key);
  const text = await bench.read(path);
  const existing = text === undefined ? undefined : await bench.page(key);
  if (text !== undefined && !existing)
    throw new TandemError("bad_file", `${key} cannot be read as a page; leave it alone.`);
  const refused = refusal?.({ key, isNew: bench.before(path) === undefined });
  if (refused !== undefined) return { markdown: refused };
  if (existing && !bench.isSeen(path)) {
    throw new TandemError("not_read", `${key} exists. Read it with wiki_read, and write it with what is to stay.`);
  }
  if (/^\s*---\s*\n/.test(input.body)) throw new TandemError("front_matter", "Leave the front matter out of the body.");
  const body = withHeading(input);
  const sources = await sourcesOf(evidenceStore, body, existing, input.because);
  refuseUncited(body, existing?.body);
  await refuseRefs(parts, key, input.refs);
  const { title, summary, tags, refs } = input;
  const page: PageFile = {
    key,
    title,
    summary: oneLine(summary),
    tags: unique(tags),
    refs: unique(refs),
    sources,
    body,
  };
  await bench.write(path, renderPage(page, text), [...sources.map(({ citation }) => citation), ...input.because]);
  onWrite?.(key, bench.before(path) === undefined);
  return { markdown: `${key} is written: ${sources.length} ${sources.length === 1 ? "source" : "sources"}.` };
}

const withHeading = ({ title, body }: PageInput): string =>
  /^#[ \t]+\S/m.test(body) ? `${body.trim()}\n` : `# ${oneLine(title)}\n\n${body.trim()}\n`;

/** Resolves the source and version of each citation. */
async function sourcesOf(
  evidenceStore: EvidenceStore,
  body: string,
  existing: PageFile | undefined,
  because: readonly string[],
): Promise<PageFile["sources"]> {
  const cited = unique(citationsIn(body).map(({ citation }) => citation));
  const known = new Map(existing?.sources.map((source) => [source.citation, source]));
  if (cited.length === 0) {
    throw new TandemError("uncited", "The page cites nothing. End each paragraph with its citations: [^citation].");
  }
  await evidenceStore.require([...cited, ...because].filter((citation) => !known.has(citation)));
  const chunks = new Map((await evidenceStore.read(cited)).map((chunk) => [chunk.citation, chunk]));
  return cited.map((citation) => {
    const chunk = chunks.get(citation);
    return chunk ? { citation, path: chunk.path, sha256: chunk.hash } : known.get(citation)!;
  });
}

function refuseUncited(body: string, before: string | undefined): void {
  const [first, ...others] = uncitedBlocks(body, before);
  if (!first) return;
  const start = JSON.stringify(first.text.slice(0, 80));
  const more = others.length > 0 ? ` So do ${others.length} others.` : "";
  throw new TandemError(
    "uncited",
    `Line ${first.from} rests on nothing: ${start}.${more} End it with its citations, or leave it out.`,
  );
}

async function refuseRefs({ bench, hasTable }: WikiParts, own: string, refs: readonly string[]): Promise<void> {
  const pages = new Set((await bench.paths()).map((path) => pageKeyOf(path)!));
  for (const ref of refs) {
    const [, kind, name = ""] = /^(page|table):(.+)$/s.exec(ref) ?? [];
    if (kind === undefined)
      throw new TandemError("bad_ref", `The ref ${ref} is neither page:KEY nor table:CONNECTION/SCHEMA.TABLE.`);
    if (kind === "page" ? name === own || pages.has(name) : hasTable(name)) continue;
    const meant = kind === "page" ? nearest(name, [...pages]) : undefined;
    throw new TandemError(
      "bad_ref",
      `There is no ${kind} ${name}.${meant ? ` Did you mean page:${meant}?` : " Leave that ref out."}`,
    );
  }
}

async function noPage(bench: Workbench, key: string): Promise<TandemError> {
  const meant = nearest(
    key,
    (await bench.paths()).map((path) => pageKeyOf(path)!),
  );
  return new TandemError("not_found", `There is no page ${key}.${meant ? ` Did you mean ${meant}?` : ""}`);
}

/** Matches in more prominent places count more. */
function rank(pages: readonly PageFile[], query: string): PageFile[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const scored = pages.map((page) => {
    const [head, summary, body] = [`${page.key} ${page.title} ${page.tags.join(" ")}`, page.summary, page.body].map(
      (text) => text.toLowerCase(),
    );
    const score = words.reduce(
      (sum, word) =>
        sum + (head!.includes(word) ? 5 : 0) + (summary!.includes(word) ? 3 : 0) + (body!.includes(word) ? 1 : 0),
      0,
    );
    return { page, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.page.key < b.page.key ? -1 : 1))
    .map(({ page }) => page);
}

const plainKey = (key: string): string =>
  key
    .trim()
    .replace(/^page:/, "")
    .replace(/^wiki\//, "")
    .replace(/\.md$/, "");
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
