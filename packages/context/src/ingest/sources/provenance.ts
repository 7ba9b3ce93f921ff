import { createHash } from "node:crypto";
import type { RecordChange } from "@tandem/storage";
import { z } from "zod";
import { allRecords, type ContextStore } from "./context-store.ts";

/**
 * What was made of an item when it was last ingested with success, by source and path. It is written when all that was to
 * be made of it is safe (for a page that triage skipped: at once), and so is what "unchanged" means. An item that failed
 * keeps the one that it had, and is tried again by the next run.
 */
const provenance = z.strictObject({
  source: z.string(),
  path: z.string(),
  sha256: z.string(),
  /** How the document is cited; kept when it is renamed. */
  citation: z.string(),
  lane: z.enum(["skip", "light", "full"]),
  /** Keys of what rests on it: `page:refunds`, `table:shop/public.orders`. */
  artifacts: z.array(z.string()),
  job: z.string(),
  at: z.string(),
});
export type Provenance = z.output<typeof provenance>;

const KIND = "provenance";
// No source's name has a space in it, so that no source's keys begin like another's. Some paths are longer than a key.
const keyOf = ({ source, path }: { source: string; path: string }): string =>
  `${source} ${Buffer.byteLength(path) > 1_500 ? createHash("sha256").update(path).digest("hex") : path}`;

/** Of one source, or of all of them. */
export async function readProvenance(store: ContextStore, source?: string): Promise<Provenance[]> {
  const found: Provenance[] = [];
  const prefix = source === undefined ? "" : `${source} `;
  for await (const entry of allRecords(store, KIND, provenance, prefix)) found.push(entry);
  return found;
}

/** For `Records.write`, together with what rests on it. */
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
