import type { Embedder } from "@tandem/runtime";
import type { JobRow, Store } from "@tandem/storage";
import { type FolderSettings, openContextFolder } from "./folder/open-context-folder.ts";
import type { Chunk } from "./ingest/evidence/document-record.ts";
import type { Knowledge } from "./knowledge.ts";
import { MemoryStores } from "./memory/memory-stores.ts";
import type { AcceptRules } from "./proposals/accept-rules.ts";
import { createProposals } from "./proposals/create-proposals.ts";
import { type JobInput, runJob } from "./runs/run-job.ts";
import { ContextSearch } from "./search/context-search.ts";

export interface ContextSettings extends FolderSettings {
  store: Store;
  /** Which proposals are accepted by rule. */
  accept: AcceptRules;
  /** The account that it is opened for: what is remembered for a user is found for that user alone. */
  user?: string;
  /** For a search by meaning, too. Whoever made it closes it. */
  embedder?: Embedder;
}

/** A context: its files, what is proposed for them, the search over them, and its jobs. */
export interface Context extends Knowledge {
  /** Its memories as programs see them. */
  readonly memoryStores: MemoryStores;
  /** A passage of a source, and up to `around` before and after it; nothing if it does not exist (any more). */
  passages(citation: string, around: number): Promise<Chunk[]>;
  run(job: Omit<JobInput, "store" | "space">): Promise<JobRow>;
}

/** The one way in, for servers and commands. A context that is not there is made. */
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
      // What reads documents takes its time to load, and few ask.
      const { readNeighbours } = await import("./ingest/evidence/read-evidence.ts");
      const { records, blobs, search } = store;
      return readNeighbours({ records, blobs, search, space: id }, citation, around);
    },
    run: (job) => runJob({ ...job, store, space: id }),
  };
}
