import type { Connection } from "@tandem/connectors";
import type { Context as Knowledge, ContextTool, JobKind } from "@tandem/context";
import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { z } from "zod";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { ingestSources, type GivenDocuments } from "./ingest-sources.ts";

/** The jobs of a project's context. Servers and commands run the same ones, so either can resume a job of the other. */
export async function jobKinds(parts: {
  project: Project;
  store: Store;
  knowledge: Knowledge;
  /** What agents may ask. */
  tools: readonly ContextTool[];
  embedder: Embedder | undefined;
  connect: (name: string) => Promise<Connection>;
  /** Documents that an ingest of this process reads beside the configured sources. Never from a request. */
  given?: GivenDocuments | undefined;
}): Promise<Record<string, JobKind>> {
  const { project, store, knowledge, tools, embedder, connect, given } = parts;
  const library = await loadContext();
  const { scan, ingest, connections } = project.config;
  const databases = Object.keys(connections);
  const sources = Object.keys(ingest.sources);
  const memory = { context: knowledge, store, settings: project.config.memory };
  return {
    memory: library.memoryKind(memory),
    remember: library.rememberKind(memory),
    ...(databases.length > 0 && {
      scan: library.jobKind(
        z.strictObject({ connection: z.enum(databases), descriptions: z.boolean().default(scan.descriptions) }),
        async (run, { connection: connectionName, descriptions }) => {
          await using connection = await connect(connectionName);
          const config = { ...scan, descriptions };
          return await library.scan(run, { context: knowledge, connectionName, connection, config });
        },
      ),
    }),
    ...((sources.length > 0 || given) && {
      ingest: library.jobKind(
        given
          ? z
              .strictObject({ sources: z.array(z.enum(sources)), files: z.array(z.string()), text: z.string() })
              .partial()
          : z.strictObject({ sources: z.array(z.enum(sources)).min(1).default(sources) }),
        async (run, { sources: names = [] }) =>
          library.ingest(run, {
            context: knowledge,
            store: { records: store.records, blobs: store.blobs, search: store.search, space: knowledge.id },
            config: ingest,
            sources: (await ingestSources(project, { names, ...given })).sources,
            tools,
            ...(embedder && { embedder }),
          }),
      ),
    }),
  };
}
