import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { type FolderSettings, openContextFolder } from "./folder/open-context-folder.ts";
import type { Chunk } from "./ingest/evidence/document-record.ts";
import type { Knowledge } from "./knowledge.ts";
import { MemoryStores } from "./memory/memory-stores.ts";
import type { AcceptRules } from "./proposals/accept-rules.ts";
import { createProposals } from "./proposals/create-proposals.ts";
import { ContextSearch } from "./search/context-search.ts";

export interface ContextSettings extends FolderSettings {
  store: Store;
  /** Proposals that are accepted by rule. */
  accept: AcceptRules;
  /** The account it is opened for; scope `user` memories are visible to that user only. */
  user?: string;
  /** Enables semantic search. The caller closes it. */
  embedder?: Embedder;
}

/** A context: its files, proposals and search. */
export interface Context extends Knowledge {
  /** Its memories for the API. */
  readonly memoryStores: MemoryStores;
  /** A passage of a source with up to `around` neighbours; empty if it does not exist. */
  passages(citation: string, around: number): Promise<Chunk[]>;
}

/** Opens a context for servers and commands, creating it if needed. */
export async function openContext({ store, accept, embedder, user, ...settings }: ContextSettings): Promise<Context> {
  const folder = await openContextFolder(settings);
  const { id } = folder;
  const proposals = createProposals({ folder, store, space: id, accept });
  return {
    id,
    user,
    folder,
    proposals,
    memoryStores: new MemoryStores({ context: { id, folder, proposals }, records: store.records }),
    search: new ContextSearch({ folder, store, embedder, user }),
    passages: async (citation, around) => {
      // Imported on demand: slow to load and seldom used.
      const { readNeighbours } = await import("./ingest/evidence/read-evidence.ts");
      const { records, blobs, search } = store;
      return readNeighbours({ records, blobs, search, space: id }, citation, around);
    },
  };
}
