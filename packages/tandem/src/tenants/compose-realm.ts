import type { Credential } from "@tandem/claude-code";
import type { Caretaker, Logger, Realm } from "@tandem/server";
import type { EngineSettings } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import { checkLogin } from "../engine/check-login.ts";
import { beginIn } from "../engine/open-acp-engine.ts";
import { hasContext, loadServer } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";
import type { Observation } from "../server/observe.ts";
import { resumeJobs } from "../fleet/resume-jobs.ts";
import { contextServers, serveContext, startMemoryCapture } from "../context/serve-context.ts";
import { createEngine } from "../engine/create-engine.ts";

const PROBE_MS = 10_000;

export interface RealmOptions {
  tenant: Realm["tenant"];
  logger: Logger;
  /** Instead of what the config names: for the demo. */
  credential?: Credential;
  /** What the engine is told beside what the config says. */
  engine?: Partial<Pick<EngineSettings, "quotas" | "fleet" | "holder" | "sharedRecords">>;
  /** Whether it runs turns, and so needs Claude Code: see `EngineOptions`. */
  runs?: boolean | "later";
  caretaker?: Caretaker;
  standing?: Realm["standing"];
  fleet?: Realm["fleet"];
  /** Counts and traces what sessions do. Returns how to stop. */
  observe?: Observation["watch"];
}

/** All that one tenant has in this process. Disposed of when nobody asks it anything any more. */
export interface ComposedRealm extends Realm, AsyncDisposable {
  store: Store;
  project: Project;
  /** Takes up what others have left: from now on turns and jobs run. */
  start(): Promise<void>;
  /** Lets turns end until the deadline; it still answers. */
  stop(deadlineMs: number): Promise<void>;
}

/** The realm of a tenant, the default one and any other, on its store. Nothing runs in it before it is started. */
export async function composeRealm(
  host: Host,
  project: Project,
  store: Store,
  { tenant, logger, credential, engine: more, caretaker, standing, fleet, observe, runs = true }: RealmOptions,
): Promise<ComposedRealm> {
  const room = await loadServer();
  await using parts = new AsyncDisposableStack();
  const serving = { command: "tandem up", log: logger };
  const shared = more?.sharedRecords && { sharedRecords: more.sharedRecords };
  const knowledge = hasContext(project)
    ? parts.use(await serveContext(host, project, store, { ...serving, ...shared }))
    : undefined;
  const clientServers = new room.ClientServers();
  const previews = fleet && parts.use(new room.RemotePreviews(fleet, { tenant: tenant.id, logger }));
  const engine = await createEngine(host, project, store, {
    ...{ ...serving, runs },
    sessionServers: (session) => clientServers.of(session),
    ...(knowledge &&
      project.config.sessions.context && {
        hostServers: await contextServers(project, knowledge, store.sessions, logger),
      }),
    ...(credential && { credential }),
    more: { ...more, ...(previews && { previews }) },
  });
  const acp = room.connectAgents({
    ...{ engine, clientServers, logger, version: host.version },
    begin: (folder, agent) => beginIn(engine, project, folder, agent),
    ...(!credential && { checkLogin: () => checkLogin(host, project, PROBE_MS) }),
  });
  if (observe) parts.defer(observe({ tenant, engine, store }));
  const running = parts.use(new AsyncDisposableStack());
  const owned = parts.move();
  let stopping: Promise<void> | undefined;
  return {
    ...{ tenant, engine, context: knowledge, caretaker, standing, acp, fleet, store, project },
    async start() {
      await engine.start();
      // Jobs are for workers, as turns are.
      if (!knowledge || fleet?.role === "server") return;
      await knowledge.desk.resume();
      if (fleet) running.use(resumeJobs(knowledge.desk, logger));
      running.use(await startMemoryCapture(project, knowledge, store, logger));
    },
    stop: (deadlineMs) => (stopping ??= running.disposeAsync().then(() => engine.stop(deadlineMs))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
