import { z } from "zod";
import type { FileProblem } from "../formats/file-problem.ts";
import { readFrontMatter, writeFrontMatter } from "../formats/page-head.ts";

/** `wiki/<key>.md`: front matter and Markdown. Claims end with their citations: `[^handbook/refunds#policy]`. */
const pageFrontMatter = z.object({
  summary: z.string().default(""),
  tags: z.array(z.string()).default([]),
  /** Keys of other pages (`page:refunds`) and tables (`table:shop/public.orders`). */
  refs: z.array(z.string()).default([]),
  /** Path and text hash of each cited passage; the hash is stable when other passages change. */
  sources: z.array(z.object({ citation: z.string(), path: z.string(), sha256: z.string() })).default([]),
});
type PageFrontMatter = z.output<typeof pageFrontMatter>;

export interface PageFile extends PageFrontMatter {
  /** File name without `.md`: lowercase letters, digits and `-`, with `/` for folders. */
  key: string;
  /** First heading, else the key. */
  title: string;
  /** The whole Markdown, including that heading. */
  body: string;
}

export type ParsedPage =
  | { success: true; page: PageFile; bodyLine: number }
  | { success: false; problems: FileProblem[] };

const KEY =
  /^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*(\/[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*)*$/u;

export const isPageKey = (key: string): boolean => key.length <= 120 && KEY.test(key);

/**
 * Derives a key from a title: `Rückgabe & Umtausch` becomes `rückgabe-umtausch`. Undefined without letters and digits.
 */
export function pageKeyFrom(title: string): string | undefined {
  const key = title
    .normalize("NFC")
    .toLowerCase()
    .split("/")
    .map((part) => part.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, "-").replaceAll(/^-+|-+$/g, ""))
    .filter((part) => part !== "")
    .join("/")
    .slice(0, 120)
    .replaceAll(/[-/]+$/g, "");
  return isPageKey(key) ? key : undefined;
}

export const pagePath = (key: string): string => `wiki/${key}.md`;

/** Undefined if it is not a page. */
export const pageKeyOf = (path: string): string | undefined => /^wiki\/(.+)\.md$/s.exec(path)?.[1];

export function parsePage(key: string, text: string): ParsedPage {
  const read = readFrontMatter(text, pageFrontMatter);
  if (!read.success) return read;
  const { value, body, bodyLine } = read;
  return { success: true, page: { ...value, key, title: headingOf(body) ?? key, body }, bodyLine };
}

/** The page in a file; undefined if the file does not exist or is not a valid page. */
export function readPage(path: string, text: string | null | undefined): PageFile | undefined {
  const key = pageKeyOf(path);
  const parsed = key === undefined || text === undefined || text === null ? undefined : parsePage(key, text);
  return parsed?.success ? parsed.page : undefined;
}

/** Keeps a person's own keys in the file. */
export function renderPage({ key: _key, title, body, ...frontMatter }: PageFile, existing?: string): string {
  const headed = headingOf(body) === undefined ? `# ${title}\n\n${body}` : body;
  const ended = headed.endsWith("\n") ? headed : `${headed}\n`;
  // The blank line between the two is layout.
  const spaced = existing === undefined && !ended.startsWith("\n") ? `\n${ended}` : ended;
  return writeFrontMatter(existing, frontMatter, spaced);
}

const headingOf = (body: string): string | undefined => /^#[ \t]+(.*?)[ \t]*#*[ \t]*\r?$/m.exec(body)?.[1] || undefined;
