import type { Logger, Wire } from "@tandem/server";
import { loadServer, startTelemetry } from "./compose.ts";
import type { Host } from "./config/host.ts";
import type { Project } from "./config/load-project.ts";
import { serverSettings } from "./config/server-settings.ts";
import { startMemoryCapture } from "./context/serve-context.ts";
import { openEngine } from "./engine/open-engine.ts";
import { createServerHealth } from "./health/create-server-health.ts";
import { localActor } from "./project/local-actor.ts";

/**
 * Opens everything that `tandem up` has except the HTTP listener. The host has the rights of the server's owner and is the only
 * client.
 */
export async function openStdioWire(
  host: Host,
  project: Project,
  logger: Logger,
  { stopMs }: { stopMs: number },
): Promise<{ wire: Wire } & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const options = { command: "tandem stdio", log: logger, context: "now" } as const;
  const { engine, store, knowledge } = await openEngine(parts, host, project, options);
  const telemetry = await startTelemetry(project, { version: host.version });
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
      version: host.version,
      actor: localActor(),
      ...(knowledge && { context: () => knowledge }),
      health: createServerHealth(host, project, { demo: false }),
      settings: { maxJsonBytes, maxUploadBytes, longTimeoutMs },
    }),
  );
  parts.defer(() => engine.stop(stopMs));
  await engine.start();
  await knowledge?.jobRunner.resume();
  if (knowledge) parts.use(await startMemoryCapture(project, knowledge, store, logger));
  const owned = parts.move();
  return { wire, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
