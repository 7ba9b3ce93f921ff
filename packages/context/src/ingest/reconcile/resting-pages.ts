import { pageKeyOf, parsePage } from "../../wiki/page-file.ts";
import { documentOf } from "../evidence/citation.ts";
import type { Pages } from "../workbench/pages.ts";

/** A page that rests on passages that are gone. */
export interface Eviction {
  /** `page:refunds` */
  artifact: string;
  path: string;
  /** Those of its citations that are gone. */
  citations: string[];
  /** Whether nothing else supports it. */
  whole: boolean;
}

export interface Gone {
  /** Documents that were deleted, by citation. */
  deleted: ReadonlySet<string>;
  /** Of documents that have changed, the passages that they have now. */
  changed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** By what the pages themselves say they rest on. */
export function restingPages(pages: Pages, { deleted, changed }: Gone): Eviction[] {
  const isGone = (citation: string): boolean => {
    const document = documentOf(citation);
    const left = changed.get(document);
    return deleted.has(document) || (left !== undefined && !left.has(citation));
  };
  return pages.paths.flatMap((path): Eviction[] => {
    const key = pageKeyOf(path);
    const parsed = key === undefined ? undefined : parsePage(key, pages.read(path) ?? "");
    if (!parsed?.success) return [];
    const cited = parsed.page.sources.map(({ citation }) => citation);
    const citations = cited.filter(isGone);
    if (citations.length === 0) return [];
    return [{ artifact: `page:${key}`, path, citations, whole: citations.length === cited.length }];
  });
}
