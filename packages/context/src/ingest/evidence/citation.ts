import { extname } from "node:path/posix";
import { notionPath } from "../sources/notion.ts";
import type { SourceType } from "../sources/source.ts";
import { shortened, shortHash, slug } from "./slug.ts";

// Both parts of a citation together must fit into a key of the store, in any script.
const LONGEST = 200;

/**
 * How a document is cited: `<source>/<path>`, in which the path is made of plain words: `handbook/guides/refund-policy` for
 * `Guides/Refund Policy.md`. Where another document has that key already, the newcomer's carries a hash of its path: keys
 * that were given are not taken away.
 */
export function documentCitation(
  { source, type, path }: { source: string; type: SourceType; path: string },
  isTaken: (citation: string) => boolean,
): string {
  const known = type === "notion" ? notionPath(path) : path;
  const extension = extname(known);
  const stem = known.slice(0, known.length - extension.length);
  // `refunds.md` and `refunds.pdf` are two documents.
  const full = /^\.(md|markdown|mdx|)$/i.test(extension) ? stem : `${stem}-${extension.slice(1)}`;
  const citation = `${source}/${shortened(full.split("/").map(slug).join("/"), LONGEST)}`;
  return isTaken(citation) ? `${citation}-${shortHash(path)}` : citation;
}

/** How a passage is cited. `headings` are those above it, without the document's own title; `part` is from 1. */
export function chunkCitation(document: string, headings: readonly string[], part: number): string {
  const section = headings.length === 0 ? "top" : shortened(headings.map(slug).join("/"), LONGEST);
  return `${document}#${section}${part === 1 ? "" : `~${part}`}`;
}

/** The document that a passage is of. */
export const documentOf = (citation: string): string => citation.split("#", 1)[0]!;
