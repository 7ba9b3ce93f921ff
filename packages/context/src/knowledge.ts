import type { ContextId } from "@tandem/protocol";
import type { ContextFolder } from "./folder/context-folder.ts";
import type { Proposals } from "./proposals/proposals.ts";
import type { ContextSearch } from "./search/context-search.ts";

/** The reviewed knowledge of one context: its files, open proposals, and the search index. */
export interface Knowledge {
  /** Also the context's space in the store. */
  readonly id: ContextId;
  readonly user: string | undefined;
  readonly folder: ContextFolder;
  readonly proposals: Proposals;
  readonly search: ContextSearch;
}
