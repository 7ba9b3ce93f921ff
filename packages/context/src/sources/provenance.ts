import { createHash } from "node:crypto";
import type { RecordChange } from "@tandem/storage";
import { z } from "zod";
import { allRecords, type ContextStore } from "./context-store.ts";

/**
 * Record of an item's last successful ingest, by source and path; it defines "unchanged". Written when all results are
 * stored (for a skipped page: at once). A failed item keeps its old record and is retried by the next run.
 */
const provenance = z.strictObject({
  source: z.string(),
  path: z.string(),
  sha256: z.string(),
  /** The document's citation; stable across renames. */
  citation: z.string(),
  lane: z.enum(["skip", "light", "full"]),
  /** Keys of dependent artifacts: `page:refunds`, `table:shop/public.orders`. */
  artifacts: z.array(z.string()),
  job: z.string(),
  at: z.string(),
});
export type Provenance = z.output<typeof provenance>;

const KIND = "provenance";
// Source names contain no space, so key prefixes are unambiguous. Long paths are hashed to fit a key.
const keyOf = ({ source, path }: { source: string; path: string }): string =>
  `${source} ${Buffer.byteLength(path) > 1_500 ? createHash("sha256").update(path).digest("hex") : path}`;

/** Of one source, or of all. */
export async function readProvenance(store: ContextStore, source?: string): Promise<Provenance[]> {
  const found: Provenance[] = [];
  const prefix = source === undefined ? "" : `${source} `;
  for await (const entry of allRecords(store, KIND, provenance, prefix)) found.push(entry);
  return found;
}

/** For `Records.write`, in the same transaction as the dependents. */
export const putProvenance = (value: Provenance): RecordChange => ({
  type: "put",
  kind: KIND,
  key: keyOf(value),
  value,
});

export const deleteProvenance = (item: { source: string; path: string }): RecordChange => ({
  type: "delete",
  kind: KIND,
  key: keyOf(item),
});
