import type { CreateTools, JobRunner, Statement, StatementAnswer } from "@tandem/context";
import { RequestError, type Clock } from "@tandem/protocol";
import type { ServedContext } from "@tandem/server";
import type { EngineSettings } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import type { Connection, Dialect } from "@tandem/connectors";
import { z } from "zod";
import {
  holderName,
  jobModels,
  loadContext,
  openContext,
  openEmbedder,
  namedLocation,
  openNamedConnection,
  sessionRoots,
} from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { requireTrust } from "../config/trust.ts";
import type { Host } from "../config/host.ts";
import { sourceAccess } from "./source-access.ts";
import { sharedQuotas } from "./shared-quotas.ts";
import type { GivenDocuments } from "./ingest-sources.ts";

export interface OpenedContext extends ServedContext, AsyncDisposable {
  jobRunner: JobRunner;
  /** Judges and runs a statement as the tool `sql_query` does. `onUnsound` replaces the project's setting. */
  runStatement(statement: Statement, onUnsound?: "warn" | "refuse"): Promise<StatementAnswer>;
}

/** The project's context with its tools, databases and background jobs. */
export async function serveContext(
  host: Host,
  project: Project,
  store: Store,
  {
    command,
    clock,
    log,
    sharedRecords: shared,
    fleet,
    given,
  }: Pick<EngineSettings, "log" | "sharedRecords" | "fleet"> & {
    command: string;
    clock: Clock;
    /** See `jobKinds`. */
    given?: GivenDocuments | undefined;
  },
): Promise<OpenedContext> {
  await requireTrust(host.env, project);
  const library = await loadContext();
  const { jobKinds, jobParams } = await import("./job-kinds.ts");
  await using parts = new AsyncDisposableStack();
  const embedder = await openEmbedder(host, project);
  if (embedder) parts.defer(() => embedder.close());
  const knowledge = await openContext(project, store, embedder);
  const { folder, search, user, proposals } = knowledge;
  const connect = (name: string) => openNamedConnection(host, project, name);
  const connections = parts.use(new Databases(() => project.config.connections, connect));
  const catalogue = new library.CatalogueReader(folder);
  const reader = new library.MetricsReader(folder, () => connections.dialects);
  const metrics = new library.Metrics({ folder, catalogue, reader, open: connections.open });
  const quotas = await sharedQuotas(host, project, shared ?? store.records, clock);
  const models = await jobModels(host, project, quotas);
  const access = sourceAccess(host, project);
  const unsoundSql = project.config.context.sql.verdict;
  const reading = { folder, user, search, catalogue, connections, proposals, metrics, unsoundSql };
  const createTools: CreateTools = ({ now, ...view }) => {
    const definitions = new library.MetricsReader(view.folder, () => connections.dialects);
    const open = connections.open;
    const computed = new library.Metrics({ ...view, reader: definitions, open, ...(now && { now }) });
    return library.createContextTools({ ...reading, ...view, metrics: computed });
  };
  const locate = (name: string) => namedLocation(host, project, name);
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
        metrics,
        embedder,
        connect,
        access,
        given,
        tools: () => library.createContextTools(reading),
        createTools,
        locate,
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
  const tools = () => {
    const hasSources = Object.keys(project.config.ingest.sources).length > 0;
    return library.createContextTools({ ...reading, work: { remember, ...(hasSources && { ingest }), job } });
  };
  const planning = { project, store, knowledge, modelOf: models.modelOf, connect, access };
  const evaluating = { ...planning, embedder, createTools, locate };
  const owned = parts.move();
  return {
    context: knowledge,
    catalogue,
    metrics,
    get tools() {
      return tools();
    },
    jobs: store.jobs,
    jobRunner,
    async plan(kind, given, signal) {
      const { planEvalsJob, planIngestJob, planScanJob } = await import("./plan-job.ts");
      const params = jobParams(project);
      if (kind === "evals") return planEvalsJob({ ...evaluating, signal }, parseParams(library.evalParams, given));
      return kind === "scan"
        ? planScanJob({ ...planning, signal }, parseParams(params.scan, given))
        : planIngestJob({ ...planning, signal }, parseParams(params.ingest, given));
    },
    runStatement: (statement, onUnsound = unsoundSql) =>
      library.runStatement({ connect: connections.open, catalogue, metrics, onUnsound }, statement),
    openModel: async () => models.llm?.open(() => {}),
    get connections() {
      return Object.entries(project.config.connections).map(([name, { driver }]) => ({ name, driver }));
    },
    get sources() {
      return Object.entries(project.config.ingest.sources).map(([name, { type }]) => ({ name, type }));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function parseParams<P extends z.ZodType>(params: P, given: unknown): z.output<P> {
  const parsed = params.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new RequestError("invalid_request", `This job cannot be planned: ${z.prettifyError(parsed.error)}`);
}

/** Captures memories from finished sessions until disposed. */
export async function startMemoryCapture(
  project: Project,
  { context, jobRunner }: OpenedContext,
  store: Store,
  log: EngineSettings["log"],
): Promise<AsyncDisposable> {
  const { MemoryCapture } = await loadContext();
  const begin = (params: { session: string }) => jobRunner.start("memory", params);
  const { isProjectSession } = await import("./is-project-session.ts");
  const isOurs = await isProjectSession(project, sessionRoots(project), store);
  const captures = new MemoryCapture({ store, space: context.id, settings: project.config.memory, isOurs, begin, log });
  captures.start();
  return captures;
}

/** The MCP server that gives a session access to the context. `served` returns undefined while there is none. */
export function contextServers(
  { config }: Project,
  served: () => ServedContext | undefined,
  sessions: Store["sessions"],
  log: EngineSettings["log"],
): NonNullable<EngineSettings["hostServers"]> {
  const timeoutMs = config.sessions.mcpTimeout;
  return async (session) => {
    const context = served();
    if (!context) return [];
    const agent = (await sessions.get(session))?.agent.name;
    const { contextServer } = await import("./context-server.ts");
    return [contextServer({ tools: context.tools, session, agent, timeoutMs, log })];
  };
}

type Connections = Readonly<Record<string, { driver: Dialect }>>;

/** The databases of a project. Each is opened on first use. */
class Databases implements AsyncDisposable {
  readonly #connections: () => Connections;
  readonly #connect: (name: string) => Promise<Connection>;
  readonly #open = new Map<string, Promise<Connection>>();

  /** `connections` is read for each use, because one can be added while the server runs. */
  constructor(connections: () => Connections, connect: (name: string) => Promise<Connection>) {
    this.#connections = connections;
    this.#connect = connect;
  }

  get dialects(): ReadonlyMap<string, Dialect> {
    return new Map(Object.entries(this.#connections()).map(([name, { driver }]) => [name, driver]));
  }

  readonly open = (name: string): Promise<Connection> => {
    const known = this.#open.get(name);
    if (known) return known;
    const opening = this.#connect(name);
    this.#open.set(name, opening);
    // Forget a failed attempt, so that the next call retries.
    opening.catch(() => this.#open.delete(name));
    return opening;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = [...this.#open.values()];
    this.#open.clear();
    for (const opening of opened) await (await opening.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}
