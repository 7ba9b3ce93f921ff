import { extname } from "node:path/posix";
import { notionPath } from "./notion.ts";
import type { SourceType } from "./source.ts";
import { shortened, shortHash, slug } from "./slug.ts";

// Both parts of a citation must fit a store key, in any script.
const LONGEST = 200;

/**
 * Citation of a document: `<source>/<path>` with slugs, for example `handbook/guides/refund-policy` for `Guides/Refund
 * Policy.md`. On a collision, the newer document gets a hash of its path; existing keys never change.
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

/** Citation of a passage. `headings` are those above it, without the document's title; `part` starts at 1. */
export function chunkCitation(document: string, headings: readonly string[], part: number): string {
  const section = headings.length === 0 ? "top" : shortened(headings.map(slug).join("/"), LONGEST);
  return `${document}#${section}${part === 1 ? "" : `~${part}`}`;
}

/** The document of a passage. */
export const documentOf = (citation: string): string => citation.split("#", 1)[0]!;
