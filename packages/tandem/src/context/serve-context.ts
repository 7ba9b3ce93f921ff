import type { JobRunner } from "@tandem/context";
import type { ServedContext } from "@tandem/server";
import type { EngineSettings } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import {
  holderName,
  jobModels,
  loadContext,
  openContext,
  openEmbedder,
  openNamedConnection,
  sessionRoots,
} from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { requireTrust } from "../config/trust.ts";
import type { Host } from "../host.ts";
import { Databases } from "./databases.ts";
import { sharedQuotas } from "../fleet/shared-quotas.ts";
import type { GivenDocuments } from "./ingest-sources.ts";
import type { EngineOptions } from "../engine/create-project-engine.ts";

export type OpenedContext = ServedContext & AsyncDisposable & { jobRunner: JobRunner };

/** The project's context with its tools, databases and background jobs. */
export async function serveContext(
  host: Host,
  project: Project,
  store: Store,
  {
    command,
    log,
    sharedRecords: shared,
    fleet,
    given,
  }: Pick<EngineOptions, "command" | "log"> &
    Pick<EngineSettings, "sharedRecords" | "fleet"> & {
      /** See `jobKinds`. */
      given?: GivenDocuments | undefined;
    },
): Promise<OpenedContext> {
  await requireTrust(host.env, project);
  const library = await loadContext();
  const { jobKinds } = await import("./job-kinds.ts");
  await using parts = new AsyncDisposableStack();
  const embedder = await openEmbedder(host, project);
  if (embedder) parts.defer(() => embedder.close());
  const knowledge = await openContext(project, store, embedder);
  const { folder, search, user } = knowledge;
  const connect = (name: string) => openNamedConnection(host, project, name);
  const connections = parts.use(new Databases(project.config.connections, connect));
  const catalogue = new library.CatalogueReader(folder);
  const quotas = await sharedQuotas(host, project, shared ?? store.records);
  const models = await jobModels(host, project, quotas);
  const reading = { folder, user, search, catalogue, connections };
  const jobRunner = parts.use(
    new library.JobRunner({
      store,
      space: knowledge.id,
      holder: holderName(command),
      log,
      fleet,
      kinds: await jobKinds({
        project,
        store,
        knowledge,
        embedder,
        connect,
        given,
        tools: library.createContextTools(reading),
      }),
      models,
    }),
  );
  const ingest = ({ source }: { source?: string }) =>
    jobRunner.start("ingest", source === undefined ? {} : { sources: [source] });
  // Several sessions may submit at once. One submission takes a moment.
  const remember = (input: unknown) => jobRunner.start("remember", input, { mayWait: true });
  // The store may contain jobs of other projects.
  const job = async (id: string) => [await store.jobs.get(id)].find((row) => row?.space === knowledge.id);
  const work = { remember, ...(jobRunner.kinds.includes("ingest") && { ingest }), job };
  const owned = parts.move();
  return {
    context: knowledge,
    catalogue,
    tools: library.createContextTools({ ...reading, work }),
    jobs: store.jobs,
    jobRunner,
    openModel: async () => models.llm?.open(() => {}),
    connections: Object.entries(project.config.connections).map(([name, { driver }]) => ({ name, driver })),
    sources: Object.entries(project.config.ingest.sources).map(([name, { type }]) => ({ name, type })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Captures memories from finished sessions until disposed. */
export async function startMemoryCapture(
  project: Project,
  { context, jobRunner }: OpenedContext,
  store: Store,
  log: EngineOptions["log"],
): Promise<AsyncDisposable> {
  const { MemoryCapture } = await loadContext();
  const begin = (params: { session: string }) => jobRunner.start("memory", params);
  const { isProjectSession } = await import("./is-project-session.ts");
  const isOurs = await isProjectSession(project, sessionRoots(project), store);
  const captures = new MemoryCapture({ store, space: context.id, settings: project.config.memory, isOurs, begin, log });
  captures.start();
  return captures;
}

/** The MCP servers that give sessions access to the context, if that is enabled. */
export async function contextServers(
  { config }: Project,
  { tools }: ServedContext,
  sessions: Store["sessions"],
  log: EngineOptions["log"],
): Promise<NonNullable<EngineSettings["hostServers"]>> {
  const { contextServer } = await import("./context-server.ts");
  const timeoutMs = config.sessions.mcpTimeout;
  return async (session) => {
    const agent = (await sessions.get(session))?.agent.name;
    return [contextServer({ tools, session, agent, timeoutMs, log })];
  };
}
