import { hasContext, holderName, openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { contextServers, serveContext } from "@tandem/tandem/context";
import { commandStore, createProjectEngine } from "@tandem/tandem/engine";
import type { Invocation } from "../invocation.ts";
import { createLocalClient } from "./local-client.ts";
import type { ClientOptions, SessionsClient } from "./sessions-client.ts";

/** Short, because the command has already waited for its turns or wants to cut them. */
const STOP_MS = 3_000;

/** Opens an engine in this process, on the project's store. */
export async function openLocalClient(
  invocation: Invocation,
  project: Project,
  { command, folder, runs = false }: ClientOptions,
): Promise<SessionsClient> {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await openStore(invocation, project));
  const log = { warn: (details: Record<string, unknown>, message: string) => logTo(invocation, details, message) };
  const knowledge =
    runs && project.config.sessions.context && hasContext(project)
      ? parts.use(await serveContext(invocation, project, store, { command, log }))
      : undefined;
  const engine = await createProjectEngine(invocation, project, commandStore(store), {
    command,
    runs,
    log,
    ownOnly: true,
    ...(knowledge && { hostServers: contextServers(project, () => knowledge, store.sessions, log) }),
    folders: folder === undefined ? [] : [folder],
  });
  if (runs) await engine.start();
  parts.defer(() => engine.stop(STOP_MS));
  const owned = parts.move();
  return createLocalClient(engine, {
    leases: store.leases,
    holder: holderName(command),
    close: () => owned.disposeAsync(),
  });
}

function logTo({ stderr, debug }: Invocation, details: Record<string, unknown>, message: string): void {
  if (debug) stderr.write(`${message} ${JSON.stringify(details)}\n`);
}
