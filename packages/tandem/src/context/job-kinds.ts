import type { Connection } from "@tandem/connectors";
import type { Context as Knowledge, ContextTool, JobKind } from "@tandem/context";
import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { z } from "zod";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { ingestSources } from "./ingest-sources.ts";

/** What a server can do in the background. Params are as the commands have them: a job begun by one is taken up by the other. */
export async function jobKinds(parts: {
  project: Project;
  store: Store;
  knowledge: Knowledge;
  /** What agents may ask. */
  tools: readonly ContextTool[];
  embedder: Embedder | undefined;
  connect: (name: string) => Promise<Connection>;
}): Promise<Record<string, JobKind>> {
  const { project, store, knowledge, tools, embedder, connect } = parts;
  const room = await loadContext();
  const { scan, ingest, connections } = project.config;
  const databases = Object.keys(connections);
  const sources = Object.keys(ingest.sources);
  const memory = { context: knowledge, store, settings: project.config.memory };
  return {
    memory: room.memoryKind(memory),
    remember: room.rememberKind(memory),
    ...(databases.length > 0 && {
      scan: room.jobKind(
        z.strictObject({ connection: z.enum(databases), descriptions: z.boolean().default(scan.descriptions) }),
        async (run, { connection: connectionName, descriptions }) => {
          await using connection = await connect(connectionName);
          const config = { ...scan, descriptions };
          return await room.scan(run, { context: knowledge, connectionName, connection, config });
        },
      ),
    }),
    ...(sources.length > 0 && {
      ingest: room.jobKind(
        z.strictObject({ sources: z.array(z.enum(sources)).min(1).default(sources) }),
        async (run, { sources: names }) =>
          room.ingest(run, {
            context: knowledge,
            store: { ...{ records: store.records, blobs: store.blobs, search: store.search }, space: knowledge.id },
            config: ingest,
            sources: (await ingestSources(project, { names })).sources,
            tools,
            ...(embedder && { embedder }),
          }),
      ),
    }),
  };
}
