import { documentOf } from "../sources/citation.ts";
import type { Chunk } from "../ingest/evidence/document-record.ts";
import { readChunks, readDocumentRecord } from "../ingest/evidence/read-evidence.ts";
import type { ContextStore } from "../sources/context-store.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { findRejected } from "../proposals/rejected-passages.ts";
import { readPage } from "../wiki/page-file.ts";

/**
 * Reads the passages that agents and searches may see, by citation. No passage of a suspicious document is served, and none
 * that a person rejected: both may contain instructions to a model.
 */
export async function readServedPassages(
  store: Pick<ContextStore, "records" | "space">,
  citations: readonly string[],
): Promise<Map<string, Chunk>> {
  const chunks = citations.length === 0 ? [] : await readChunks(store, citations);
  const rejected = await findRejected(store, chunks);
  const suspicious = new Set<string>();
  for (const document of new Set(chunks.map(({ citation }) => documentOf(citation)))) {
    const record = await readDocumentRecord(store, document);
    if (record?.suspicious !== null) suspicious.add(document);
  }
  const isServed = ({ citation }: Chunk): boolean => !rejected.has(citation) && !suspicious.has(documentOf(citation));
  return new Map(chunks.filter(isServed).map((chunk) => [chunk.citation, chunk]));
}

/** Whether a page of the wiki cites the passage as it is now. A person has seen it with the page. */
export async function isCited(folder: ContextFolder, { citation, hash }: Chunk): Promise<boolean> {
  for (const path of await folder.list("wiki/")) {
    const page = readPage(path, await folder.read(path).catch(leftAlone));
    if (page?.sources.some((source) => source.citation === citation && source.sha256 === hash)) return true;
  }
  return false;
}
