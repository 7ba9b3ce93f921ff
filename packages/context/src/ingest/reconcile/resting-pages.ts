import { readPage } from "../../wiki/page-file.ts";
import { documentOf } from "../../sources/citation.ts";
import type { Pages } from "../workbench/pages.ts";

/** A page that rests on deleted passages. */
export interface Eviction {
  /** `page:refunds` */
  artifact: string;
  path: string;
  /** Its deleted citations. */
  citations: string[];
  /** Whether it has no other support. */
  whole: boolean;
}

export interface Gone {
  /** Deleted documents, by citation. */
  deleted: ReadonlySet<string>;
  /** Current passages of changed documents. */
  changed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Uses the citations in the pages. */
export function restingPages(pages: Pages, { deleted, changed }: Gone): Eviction[] {
  const isGone = (citation: string): boolean => {
    const document = documentOf(citation);
    const left = changed.get(document);
    return deleted.has(document) || (left !== undefined && !left.has(citation));
  };
  return pages.paths.flatMap((path): Eviction[] => {
    const page = readPage(path, pages.read(path));
    if (!page) return [];
    const cited = page.sources.map(({ citation }) => citation);
    const citations = cited.filter(isGone);
    if (citations.length === 0) return [];
    return [{ artifact: `page:${page.key}`, path, citations, whole: citations.length === cited.length }];
  });
}
