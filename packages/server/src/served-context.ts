import type { CatalogueReader, Context, ContextTool, JobRunner, Metrics } from "@tandem/context";
import type { BodyOutput, ConnectionTest, JobPlan, SourceTest } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import type { JobStore } from "@tandem/storage";

/** A context as the server uses it. */
export interface ServedContext {
  context: Context;
  catalogue: CatalogueReader;
  metrics: Metrics;
  tools: readonly ContextTool[];
  jobs: JobStore;
  /** Runs background jobs. */
  jobRunner: Pick<JobRunner, "kinds" | "start" | "cancel">;
  /** Estimates the reads and cost of a scan or an ingest. Calls no model and writes nothing. */
  plan(kind: "scan" | "ingest" | "evals", params: unknown, signal: AbortSignal): Promise<JobPlan>;
  /** Opens a model for a single call; undefined if none is configured. The caller closes it. */
  openModel?: () => Promise<LlmRuntime | undefined>;
  /** The project's connections and sources, by their names in the config. They grow when one is added. */
  connections: readonly { name: string; driver: string }[];
  sources: readonly { name: string; type: string }[];
}

/** Adds databases and folders to the project's config while the server runs. Each is tested before it is saved. */
export interface ContextSetup {
  testConnection(input: BodyOutput<"context.connections.test">, signal: AbortSignal): Promise<ConnectionTest>;
  addConnection(
    input: BodyOutput<"context.connections.create">,
    signal: AbortSignal,
  ): Promise<{ name: string; file: string; test: ConnectionTest }>;
  testSource(input: BodyOutput<"context.sources.test">, signal: AbortSignal): Promise<SourceTest>;
  addSource(
    input: BodyOutput<"context.sources.create">,
    signal: AbortSignal,
  ): Promise<{ name: string; file: string; test: SourceTest }>;
}
