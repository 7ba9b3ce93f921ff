import { holderName } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { openEngine } from "@tandem/tandem/engine";
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
  const { stderr, debug } = invocation;
  const warn = (details: Record<string, unknown>, message: string): void => {
    if (debug) stderr.write(`${message} ${JSON.stringify(details)}\n`);
  };
  await using parts = new AsyncDisposableStack();
  const { engine, store } = await openEngine(parts, invocation, project, {
    command,
    runs,
    log: { warn },
    ownOnly: true,
    context: runs && project.config.sessions.context ? "now" : "never",
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
