import type { Logger, Wire } from "@tandem/server";
import { hasContext, loadServer, openStore, sessionRoots, startTelemetry } from "@tandem/tandem/compose";
import { contextServers, serveContext, startMemoryCapture } from "@tandem/tandem/context";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { localActor } from "@tandem/tandem/project";
import { serverSettings } from "@tandem/tandem/server";
import { createServerHealth } from "@tandem/tandem/health";
import { createProjectEngine } from "@tandem/tandem/engine";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";

/** Time for running turns to end after the host disconnects. Then they are interrupted. */
export const STOP_MS = 3_000;

export interface OpenedWire extends AsyncDisposable {
  wire: Wire;
  engine: "own" | "server";
}

/** Connects to the running server if it uses our database and may work in this folder, else opens an engine in this process. */
export async function openWire(invocation: Invocation, project: Project, logger: Logger): Promise<OpenedWire> {
  const servers = await Promise.all(sessionRoots(project).map((root) => serverFor(invocation, project, root)));
  const [server] = servers;
  if (server && servers.every(Boolean)) {
    const wire = await ServerConnection.open(server);
    return { wire, engine: "server", [Symbol.asyncDispose]: async () => wire[Symbol.dispose]() };
  }
  return openOwn(invocation, project, logger);
}

/**
 * Opens everything that `tandem up` has except the HTTP listener. The host has the rights of the server's owner and is the only
 * client.
 */
async function openOwn(invocation: Invocation, project: Project, logger: Logger): Promise<OpenedWire> {
  const command = "tandem stdio";
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await openStore(invocation, project));
  const serving = { command, log: logger };
  const knowledge = hasContext(project)
    ? parts.use(await serveContext(invocation, project, store, serving))
    : undefined;
  const engine = await createProjectEngine(invocation, project, store, {
    ...serving,
    ...(knowledge &&
      project.config.sessions.context && {
        hostServers: contextServers(project, () => knowledge, store.sessions, logger),
      }),
  });
  const telemetry = await startTelemetry(project, { version: invocation.version });
  if (telemetry) {
    parts
      .use(telemetry)
      .watch({ events: store.events, agentOf: async (session) => (await engine.sessions.get(session)).agent });
  }
  const { openPrivateWire } = await loadServer();
  const { maxJsonBytes, maxUploadBytes, longTimeoutMs } = await serverSettings(project, undefined);
  const wire = parts.use(
    openPrivateWire({
      engine,
      store,
      logger,
      version: invocation.version,
      actor: localActor(),
      ...(knowledge && { context: () => knowledge }),
      health: createServerHealth(invocation, project, { demo: false }),
      settings: { maxJsonBytes, maxUploadBytes, longTimeoutMs },
    }),
  );
  parts.defer(() => engine.stop(STOP_MS));
  await engine.start();
  await knowledge?.jobRunner.resume();
  if (knowledge) parts.use(await startMemoryCapture(project, knowledge, store, logger));
  const owned = parts.move();
  return { wire, engine: "own", [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
