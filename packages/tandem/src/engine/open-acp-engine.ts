import { RequestError, type SessionCreateParams, type SessionId } from "@tandem/protocol";
import type { Engine, EngineSettings } from "@tandem/sessions";
import { flushCompileCache } from "node:module";
import { parse } from "node:path";
import { holderName, loadClaudeCode, loadSessions } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import type { EngineOptions } from "./create-project-engine.ts";
import { defaultAgent, findAgent } from "./find-agent.ts";
import { findEnvironment } from "./find-environment.ts";
import { openEngine } from "./open-engine.ts";

const COMMAND = "tandem acp";
/** Delay before preloading, so that a busy machine first answers the editor's opening requests. */
const AT_LEISURE_MS = 500;

export interface AcpEngine extends AsyncDisposable {
  engine: Engine;
  begin(folder: string): Promise<Pick<SessionCreateParams, "agent" | "environment_id">>;
  mayWrite(session: string): Promise<void>;
}

/** The engine of an ACP agent in this process. Its sessions work in any folder that the editor opens. */
export async function openAcpEngine(
  host: Host,
  project: Project,
  options: {
    sessionServers: EngineSettings["sessionServers"];
    agent: string | undefined;
    stopMs: number;
    meanwhile: () => void;
    log: EngineOptions["log"];
  },
): Promise<AcpEngine> {
  await using parts = new AsyncDisposableStack();
  // The store's threads start as slowly as the remaining imports load. Do both in parallel.
  const meanwhile = (): void => {
    options.meanwhile();
    void loadSessions();
  };
  const { engine, store } = await openEngine(parts, host, project, {
    command: COMMAND,
    log: options.log,
    meanwhile,
    ownOnly: true,
    runs: "later",
    context: project.config.sessions.context ? "later" : "never",
    sessionServers: options.sessionServers,
    // The editor's user chooses the folder, like a user of `tandem run`.
    folders: [parse(host.cwd).root],
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
        fix: "Continue it there, or after that process has ended.",
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts a session with the named agent, else with that of `tandem run`. */
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

/**
 * Preloads what the first prompt needs while the user types. Flushes the compile cache now, because many editors kill their
 * agents.
 */
async function prepare(): Promise<void> {
  await loadClaudeCode();
  flushCompileCache();
}
