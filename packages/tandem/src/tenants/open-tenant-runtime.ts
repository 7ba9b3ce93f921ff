import type { Credential } from "@tandem/claude-code";
import { systemClock, type Clock } from "@tandem/protocol";
import type { ServerHealth, Logger, TenantRuntime } from "@tandem/server";
import type { EngineSettings } from "@tandem/sessions";
import { DEFAULT_TENANT, type Store } from "@tandem/storage";
import type { JobRunner } from "@tandem/context";
import { checkLogin } from "../engine/check-login.ts";
import { beginIn } from "../engine/open-acp-engine.ts";
import { hasContext, loadServer, sessionRoots } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import type { Observation } from "../server/observe.ts";
import { projectContextSetup } from "../context/project-context-setup.ts";
import { contextServers, type OpenedContext, serveContext, startMemoryCapture } from "../context/serve-context.ts";
import { createProjectEngine } from "../engine/create-project-engine.ts";

const PROBE_MS = 10_000;

export interface TenantRuntimeOptions {
  tenant: TenantRuntime["tenant"];
  logger: Logger;
  /** Replaces the credential of the config, for the demo. */
  credential?: Credential;
  /** Engine settings besides those of the config. */
  engine?: Partial<Pick<EngineSettings, "quotas" | "fleet" | "holder" | "sharedRecords" | "clock">>;
  /** Whether it runs turns, and so needs Claude Code: see `EngineOptions`. */
  runs?: boolean | "later";
  health?: ServerHealth;
  readUsage?: TenantRuntime["readUsage"];
  fleet?: TenantRuntime["fleet"];
  /** Counts and traces sessions. Returns a function that stops it. */
  observe?: Observation["watch"];
}

/** A tenant's services in this process. Dispose it when it has no more requests. */
export interface OpenTenantRuntime extends TenantRuntime, AsyncDisposable {
  store: Store;
  project: Project;
  /** The engine's. */
  clock: Clock;
  /** Recovers unfinished work and starts to run turns and jobs. */
  start(): Promise<void>;
  /** Lets turns finish until the deadline; requests are still answered. */
  stop(deadlineMs: number): Promise<void>;
}

/** How long a process is kept for the next session like the last one. */
const SPARE_MS = 60 * 60 * 1_000;

/** The runtime of a tenant, the default one and any other, on its store. Nothing runs in it before it is started. */
export async function openTenantRuntime(
  host: Host,
  project: Project,
  store: Store,
  { tenant, logger, credential, engine: more, health, readUsage, fleet, observe, runs = true }: TenantRuntimeOptions,
): Promise<OpenTenantRuntime> {
  const library = await loadServer();
  const clock = more?.clock ?? systemClock;
  await using parts = new AsyncDisposableStack();
  const serving = { command: "tandem up", log: logger };
  const openContext = async () =>
    serveContext(host, project, store, {
      ...serving,
      clock,
      ...(more?.sharedRecords && { sharedRecords: more.sharedRecords }),
      ...(more?.fleet && { fleet: more.fleet }),
    });
  let knowledge = hasContext(project) ? parts.use(await openContext()) : undefined;
  const clientServers = new library.ClientServers();
  const previews = fleet && parts.use(new library.RemotePreviews(fleet, { tenant: tenant.id, logger }));
  const engine = await createProjectEngine(host, project, store, {
    ...serving,
    runs,
    sessionServers: (session) => clientServers.of(session),
    ...(project.config.sessions.context && {
      hostServers: contextServers(project, () => knowledge, store.sessions, logger),
    }),
    ...(credential && { credential }),
    more: {
      ...more,
      clock,
      // Admins of other tenants do not run this machine.
      publicMcpServers: tenant.id !== DEFAULT_TENANT,
      contextMemories: () => knowledge?.context.memoryStores,
      tenant: tenant.id,
      ...(runs === true && { spareProcesses: { count: project.config.sessions.spares, keepMs: SPARE_MS } }),
      ...(previews && { previews }),
      ...(knowledge && !more?.fleet && { jobQueue: knowledge.jobRunner.queue }),
    },
  });
  const acp = library.connectAgents({
    engine,
    clientServers,
    logger,
    version: host.version,
    begin: (folder, agent) => beginIn(engine, project, folder, agent),
    ...(!credential && { checkLogin: () => checkLogin(host, project, PROBE_MS) }),
  });
  if (observe) parts.defer(observe({ tenant, engine, store }));
  // Before `running`, so that a context that was opened late outlives its jobs.
  const openedLate = parts.use(new AsyncDisposableStack());
  const running = parts.use(new AsyncDisposableStack());
  const owned = parts.move();
  let isStarted = false;
  const startJobs = async (served: OpenedContext) => {
    await served.jobRunner.resume();
    running.defer(() => served.jobRunner.pause());
    if (fleet) running.use(resumeJobs(served.jobRunner, logger));
    running.use(await startMemoryCapture(project, served, store, logger));
  };
  // Two requests may add the first database at once.
  let openingLate: Promise<void> | undefined;
  const ensureContext = () =>
    (openingLate ??= (async () => {
      if (knowledge) return;
      const served = openedLate.use(await openContext());
      knowledge = served;
      await engine.memoryStores.adoptFormer();
      if (isStarted && fleet?.role !== "server") await startJobs(served);
    })().finally(() => (openingLate = undefined)));
  let stopping: Promise<void> | undefined;
  return {
    tenant,
    engine,
    context: () => knowledge,
    setup: projectContextSetup(host, project, ensureContext),
    health,
    readUsage,
    acp,
    opencode: {
      folder: sessionRoots(project)[0]!,
      usualMode: project.config.sessions.permissionMode,
      usualModel: project.config.llm.models.default,
      begin: (folder) => beginIn(engine, project, folder, undefined),
    },
    fleet,
    store,
    project,
    clock,
    async start() {
      await engine.memoryStores.adoptFormer();
      await engine.start();
      isStarted = true;
      // Like turns, jobs run on workers only.
      if (knowledge && fleet?.role !== "server") await startJobs(knowledge);
    },
    stop: (deadlineMs) => (stopping ??= running.disposeAsync().then(() => engine.stop(deadlineMs))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const POLL_MS = 15_000;

/**
 * Periodically sends unfinished jobs whose run the queue does not have: of a command that was killed, or of a process that
 * was killed between storing a job and sending its run.
 */
function resumeJobs(
  jobs: Pick<JobRunner, "resume">,
  log: { warn(details: Record<string, unknown>, message: string): void },
): Disposable {
  const poll = (): Promise<void> =>
    jobs.resume().catch((error: unknown) => log.warn({ error: String(error) }, "jobs could not be looked for"));
  const timer = setInterval(() => void poll(), POLL_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
