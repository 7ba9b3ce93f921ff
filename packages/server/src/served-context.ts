import type { CatalogueReader, Context, ContextTool, JobRunner } from "@tandem/context";
import type { LlmRuntime } from "@tandem/runtime";
import type { JobStore } from "@tandem/storage";

/** A context as the server uses it. */
export interface ServedContext {
  context: Context;
  catalogue: CatalogueReader;
  tools: readonly ContextTool[];
  jobs: JobStore;
  /** Runs background jobs. */
  jobRunner: Pick<JobRunner, "kinds" | "start" | "cancel">;
  /** Opens a model for a single call; undefined if none is configured. The caller closes it. */
  openModel?: () => Promise<LlmRuntime | undefined>;
  /** The project's connections and sources, by their names in the config. */
  connections: readonly { name: string; driver: string }[];
  sources: readonly { name: string; type: string }[];
}
