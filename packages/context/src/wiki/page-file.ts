import { z } from "zod";
import type { FileProblem } from "../file-problem.ts";
import { readFrontMatter, writeFrontMatter } from "../page-head.ts";

/** `wiki/<key>.md`: front matter and Markdown. Claims end with the citations they rest on: `[^handbook/refunds#policy]`. */
const pageFrontMatter = z.object({
  summary: z.string().default(""),
  tags: z.array(z.string()).default([]),
  /** Keys of other pages (`page:refunds`) and tables (`table:shop/public.orders`). */
  refs: z.array(z.string()).default([]),
  /** Of each citation in the text: where the passage is, and the hash of its text, which stays when only others change. */
  sources: z.array(z.object({ citation: z.string(), path: z.string(), sha256: z.string() })).default([]),
});
export type PageFrontMatter = z.output<typeof pageFrontMatter>;

export interface PageFile extends PageFrontMatter {
  /** The file's name without `.md`: small letters, digits and `-`, and `/` for folders. */
  key: string;
  /** Its first heading; else its key. */
  title: string;
  /** All of the Markdown, with that heading. */
  body: string;
}

export type ParsedPage =
  | { success: true; page: PageFile; bodyLine: number }
  | { success: false; problems: FileProblem[] };

const KEY =
  /^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*(\/[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*)*$/u;

export const isPageKey = (key: string): boolean => key.length <= 120 && KEY.test(key);

/** Of any title: `Rückgabe & Umtausch` is `rückgabe-umtausch`. Undefined if no letter or digit is in it. */
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

/** Undefined for what is not a page. */
export const pageKeyOf = (path: string): string | undefined => /^wiki\/(.+)\.md$/s.exec(path)?.[1];

export function parsePage(key: string, text: string): ParsedPage {
  const read = readFrontMatter(text, pageFrontMatter);
  if (!read.success) return read;
  const { value, body, bodyLine } = read;
  return { success: true, page: { ...value, key, title: headingOf(body) ?? key, body }, bodyLine };
}

/** What stood in the file under names of a person's own stays. */
export function renderPage({ key: _key, title, body, ...frontMatter }: PageFile, existing?: string): string {
  const headed = headingOf(body) === undefined ? `# ${title}\n\n${body}` : body;
  const ended = headed.endsWith("\n") ? headed : `${headed}\n`;
  // Blank between the two is layout, and not a part of either.
  const spaced = existing === undefined && !ended.startsWith("\n") ? `\n${ended}` : ended;
  return writeFrontMatter(existing, frontMatter, spaced);
}

const headingOf = (body: string): string | undefined => /^#[ \t]+(.*?)[ \t]*#*[ \t]*\r?$/m.exec(body)?.[1] || undefined;
