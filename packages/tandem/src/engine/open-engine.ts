import { systemClock } from "@tandem/protocol";
import type { Engine, EngineSettings } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import { hasContext, openStore } from "../compose.ts";
import type { Host } from "../config/host.ts";
import type { Project } from "../config/load-project.ts";
import { contextServers, type OpenedContext, serveContext } from "../context/serve-context.ts";
import { createProjectEngine, type EngineOptions } from "./create-project-engine.ts";

interface OpenEngineOptions extends Pick<
  EngineOptions,
  "command" | "log" | "runs" | "folders" | "sessionServers" | "ownOnly"
> {
  /** An open store, which the caller closes. Default: the project's. */
  store?: Store;
  /** Runs while the store opens. */
  meanwhile?: () => void;
  /** When to open the project's context, if it has one. An editor must not wait: `later` is with the first session process. */
  context: "never" | "now" | "later";
}

/**
 * Opens the project's store, its context and an engine. `parts` closes the store and the context. The caller starts the engine
 * and defers its `stop` to `parts`.
 */
export async function openEngine(
  parts: AsyncDisposableStack,
  host: Host,
  project: Project,
  { store: given, meanwhile, context, ...options }: OpenEngineOptions,
): Promise<{ engine: Engine; store: Store; knowledge: OpenedContext | undefined }> {
  const store = given ?? parts.use(await openStore(host, project, meanwhile));
  const { log, ownOnly } = options;
  const contexts = parts.use(new AsyncDisposableStack());
  let opening: Promise<OpenedContext> | undefined;
  const open = () =>
    (opening ??= serveContext(host, project, store, { ...options, clock: systemClock }).then((served) =>
      contexts.use(served),
    ));
  const when = hasContext(project) ? context : "never";
  const knowledge = when === "now" ? await open() : undefined;
  const hostServers: EngineSettings["hostServers"] = async (session) => {
    const served = await open();
    return contextServers(project, () => served, store.sessions, log)(session);
  };
  const engine = await createProjectEngine(host, project, ownOnly ? commandStore(store) : store, {
    ...options,
    ...(project.config.sessions.context && when !== "never" && { hostServers }),
  });
  return { engine, store, knowledge };
}

/**
 * Wraps the store for the engine of a single command. The engine ignores the pending work of other processes: a server should
 * pick it up, not a process about to exit. Messages to a session that this engine uses, such as an approval's answer, still
 * arrive.
 */
function commandStore(store: Store): Store {
  const own = new Set<string>();
  return {
    ...store,
    inputQueue: {
      ...store.inputQueue,
      put: async (session, events, options) => {
        own.add(session);
        await store.inputQueue.put(session, events, options);
      },
      sessions: async () => (await store.inputQueue.sessions()).filter((session) => own.has(session)),
      onPut: (listener) => store.inputQueue.onPut((session) => void (own.has(session) && listener(session))),
    },
    leases: {
      ...store.leases,
      take: async (session, holder, ttlMs) => {
        const lease = await store.leases.take(session, holder, ttlMs);
        if (lease) own.add(session);
        return lease;
      },
      abandoned: async () => [],
    },
  };
}
