import { type PageFile, pageKeyOf, parsePage } from "./page-file.ts";

export type PageSummary = Pick<PageFile, "key" | "title" | "summary" | "refs">;

/** Undefined for a file that is no valid page; search lists those. */
export function readPageSummary(text: string, path: string): PageSummary | undefined {
  const key = pageKeyOf(path);
  const parsed = key === undefined ? undefined : parsePage(key, text);
  if (!parsed?.success) return undefined;
  const { title, summary, refs } = parsed.page;
  return { key: parsed.page.key, title, summary, refs };
}
