import type { ContextId } from "@tandem/protocol";
import type { ContextFolder } from "./folder/context-folder.ts";
import type { Proposals } from "./proposals/proposals.ts";
import type { ContextSearch } from "./search/context-search.ts";

/** The reviewed knowledge of one context: its files, open changes to them, and the index over them. */
export interface Knowledge {
  /** The space under which the store keeps everything of this context. */
  readonly id: ContextId;
  readonly user: string | undefined;
  readonly folder: ContextFolder;
  readonly proposals: Proposals;
  readonly search: ContextSearch;
}
