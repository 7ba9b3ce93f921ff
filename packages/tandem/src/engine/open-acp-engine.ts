import { RequestError, type SessionCreateParams, type SessionId } from "@tandem/protocol";
import type { Engine, EngineSettings } from "@tandem/sessions";
import { flushCompileCache } from "node:module";
import { parse } from "node:path";
import { hasContext, holderName, loadClaudeCode, loadSessions, openStore } from "../compose.ts";
import { contextServers, serveContext } from "../context/serve-context.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";
import { createEngine, type EngineOptions } from "./create-engine.ts";
import { defaultAgent, findAgent } from "./find-agent.ts";
import { findEnvironment } from "./find-environment.ts";
import { ownSessions } from "./own-sessions.ts";

const COMMAND = "tandem acp";
/** After a session is open, and its client has been told what there is, also where the machine is busy. */
const AT_LEISURE_MS = 500;

export interface AcpEngine extends AsyncDisposable {
  engine: Engine;
  begin(folder: string): Promise<Pick<SessionCreateParams, "agent" | "environment_id">>;
  mayWrite(session: string): Promise<void>;
}

/** The engine of an editor's agent, in this process: its sessions work in whatever folder the editor has open. */
export async function openAcpEngine(
  context: Host,
  project: Project,
  options: {
    sessionServers: EngineSettings["sessionServers"];
    agent: string | undefined;
    stopMs: number;
    meanwhile: () => void;
    log: EngineOptions["log"];
  },
): Promise<AcpEngine> {
  const { sessionServers, log } = options;
  await using parts = new AsyncDisposableStack();
  // Its threads take as long to start as the rest takes to load.
  const meanwhile = (): void => {
    options.meanwhile();
    void loadSessions();
  };
  const store = parts.use(await openStore(context, project, meanwhile));
  const later = parts.use(new AsyncDisposableStack());
  const knowledge = laterServers(async () => {
    const served = later.use(await serveContext(context, project, store, { command: COMMAND, log }));
    return contextServers(project, served, store.sessions, log);
  });
  const engine = await createEngine(context, project, ownSessions(store), {
    ...{ command: COMMAND, log, ownOnly: true, runs: "later" as const },
    ...(project.config.sessions.context && hasContext(project) && { hostServers: knowledge }),
    sessionServers,
    // The editor's user chooses the folder, as who types `tandem run` there does.
    folders: [parse(context.cwd).root],
  });
  parts.defer(() => engine.stop(options.stopMs));
  await engine.start();
  const owned = parts.move();
  return {
    engine,
    async begin(folder) {
      const params = await beginIn(engine, project, folder, options.agent);
      setTimeout(() => void prepare(), AT_LEISURE_MS).unref();
      return params;
    },
    async mayWrite(session) {
      const held = await store.leases.holder(session as SessionId);
      if (!held || held.holder === holderName(COMMAND)) return;
      throw new RequestError("conflict", `The session ${session} is held by ${held.holder}.`, {
        fix: "Go on with it there, or when that process has ended.",
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** With the agent that was named, or that of `tandem run`. */
export async function beginIn(
  engine: Engine,
  project: Project,
  folder: string,
  named: string | undefined,
): Promise<Pick<SessionCreateParams, "agent" | "environment_id">> {
  const { agent, model } = named
    ? { agent: await findAgent(engine, named), model: undefined }
    : await defaultAgent(engine, project.config.llm);
  return {
    agent: model === undefined ? agent.id : { type: "agent_with_overrides", id: agent.id, model },
    environment_id: await findEnvironment(engine, folder),
  };
}

/** What a session's process is given of the context: opened with the first that starts, so that no editor waits for it. */
function laterServers(
  open: () => Promise<NonNullable<EngineSettings["hostServers"]>>,
): NonNullable<EngineSettings["hostServers"]> {
  let opening: ReturnType<typeof open> | undefined;
  return async (session) => (await (opening ??= open()))(session);
}

/** While a person types, what their first prompt needs is loaded. What was compiled is kept now: many editors kill agents. */
async function prepare(): Promise<void> {
  await loadClaudeCode();
  flushCompileCache();
}
