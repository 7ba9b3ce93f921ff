import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { type FolderSettings, openContextFolder } from "./folder/open-context-folder.ts";
import type { Chunk } from "./ingest/evidence/document-record.ts";
import type { Knowledge } from "./knowledge.ts";
import { MemoryStores } from "./memory/memory-stores.ts";
import type { AcceptRules } from "./proposals/accept-rules.ts";
import { readServedPassages } from "./search/served-passages.ts";
import { createProposals } from "./proposals/create-proposals.ts";
import { readNeighbours } from "./ingest/evidence/read-evidence.ts";
import { ContextSearch } from "./search/context-search.ts";

export interface ContextSettings extends FolderSettings {
  store: Store;
  /** Proposals that are accepted by rule. */
  accept: AcceptRules;
  /** The account it is opened for; scope `user` memories are visible to that user only. */
  user?: string;
  /** Whether searches find passages that no person has reviewed. */
  unreviewed?: "off" | "label";
  /** Enables semantic search. The caller closes it. */
  embedder?: Embedder;
  /** By which memories expire and changes are dated. Default: real time. */
  now?: () => Date;
}

/** A context: its files, proposals and search. */
export interface Context extends Knowledge {
  /** Its memories for the API. */
  readonly memoryStores: MemoryStores;
  /**
   * A passage of a source with up to `around` neighbours; empty if it does not exist. A reviewer also sees those that are
   * suspicious or rejected.
   */
  passages(citation: string, around: number, reader: { isReviewer: boolean }): Promise<Chunk[]>;
}

/** Opens a context for servers and commands, creating it if needed. */
export async function openContext({
  store,
  accept,
  embedder,
  unreviewed,
  user,
  now,
  ...settings
}: ContextSettings): Promise<Context> {
  const folder = await openContextFolder(settings);
  const { id } = folder;
  const proposals = createProposals({ folder, store, space: id, accept, now });
  return {
    id,
    user,
    folder,
    proposals,
    memoryStores: new MemoryStores({ context: { id, folder, proposals }, records: store.records, now }),
    search: new ContextSearch({ folder, store, embedder, unreviewed, user, now }),
    passages: async (citation, around, { isReviewer }) => {
      const evidence = { records: store.records, space: id };
      const found = await readNeighbours(evidence, citation, around);
      if (isReviewer) return found;
      const cited = found.map((each) => each.citation);
      return [...(await readServedPassages(evidence, cited)).values()];
    },
  };
}
