import { type PageFile, readPage } from "./page-file.ts";

export type PageSummary = Pick<PageFile, "key" | "title" | "summary" | "refs">;

/** Undefined for a file that is no valid page; search lists those. */
export function readPageSummary(text: string, path: string): PageSummary | undefined {
  const page = readPage(path, text);
  return page && { key: page.key, title: page.title, summary: page.summary, refs: page.refs };
}
