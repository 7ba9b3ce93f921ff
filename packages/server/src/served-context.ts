import type { CatalogueReader, Context, ContextTool, JobRunner } from "@tandem/context";
import type { LlmRuntime } from "@tandem/runtime";
import type { JobStore } from "@tandem/storage";

/** A context as the server and its clients use it. */
export interface ServedContext {
  context: Context;
  catalogue: CatalogueReader;
  tools: readonly ContextTool[];
  jobs: JobStore;
  /** Does what is asked for in the background. */
  desk: Pick<JobRunner, "kinds" | "start" | "cancel">;
  /** Opens a model for a single question; undefined where none is set up. Whoever has it opened closes it. */
  openModel?: () => Promise<LlmRuntime | undefined>;
  /** What the project reads, as its config names it. */
  connections: readonly { name: string; driver: string }[];
  sources: readonly { name: string; type: string }[];
}
