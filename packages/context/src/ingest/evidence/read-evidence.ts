import type { ContextStore } from "../../sources/context-store.ts";
import { type Chunk, chunk, type DocumentRecord, documentRecord } from "./document-record.ts";
import { documentOf } from "../../sources/citation.ts";

type EvidenceRecords = Pick<ContextStore, "records" | "space">;

/** Undefined if the document does not exist. */
export async function readDocumentRecord(
  { records, space }: EvidenceRecords,
  citation: string,
): Promise<DocumentRecord | undefined> {
  const stored = await records.get(space, "document", citation);
  return stored && documentRecord.parse(stored.value);
}

/** Existing passages, in the order of the citations. */
export async function readChunks({ records, space }: EvidenceRecords, citations: readonly string[]): Promise<Chunk[]> {
  const stored = await records.getMany(space, "chunk", citations);
  return stored.map(({ value }) => chunk.parse(value));
}

/** The passage and up to `around` neighbours on each side; empty if it does not exist. */
export async function readNeighbours(store: EvidenceRecords, citation: string, around: number): Promise<Chunk[]> {
  const document = await readDocumentRecord(store, documentOf(citation));
  const at = document?.chunks.indexOf(citation) ?? -1;
  if (!document || at === -1) return [];
  return readChunks(store, document.chunks.slice(Math.max(0, at - around), at + around + 1));
}
