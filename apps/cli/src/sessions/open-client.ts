import { isAbsolute, relative } from "node:path";
import { hasContext, holderName, openStore } from "@tandem/tandem/compose";
import { contextServers, serveContext } from "@tandem/tandem/context";
import { databaseName, type Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { findServer, type ServerInfo } from "@tandem/tandem/server";
import { createProjectEngine, commandStore } from "@tandem/tandem/engine";
import { createLocalClient } from "./local-client.ts";
import { createServerClient } from "./server-client.ts";
import { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** Short, because the command has already waited for its turns or wants to cut them. */
const STOP_MS = 3_000;

export interface ClientOptions {
  /** The command name, shown when another process finds a session locked. */
  command: string;
  /** The session's folder. A server that may not work there is not used. */
  folder?: string;
  /** Whether the engine needs to run turns, if it is in this process. */
  runs?: boolean;
}

/** Connects to the running server if it uses our database, else opens an engine in this process on the same store. */
export async function openClient(
  invocation: Invocation,
  project: Project,
  options: ClientOptions,
): Promise<SessionsClient> {
  const server = await serverFor(invocation, project, options.folder);
  if (server) return createServerClient(await ServerConnection.open(server));
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await openStore(invocation, project));
  const { command, runs = false } = options;
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
    ...(knowledge && { hostServers: await contextServers(project, knowledge, store.sessions, log) }),
    folders: options.folder === undefined ? [] : [options.folder],
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

/** The running server, if it can do what this command needs. It runs its own choice of Claude Code. */
export async function serverFor(
  { env, claudePath }: Pick<Invocation, "env" | "claudePath">,
  project: Project,
  folder?: string,
): Promise<ServerInfo | undefined> {
  const server = claudePath === undefined ? await findServer(env) : undefined;
  if (server?.database !== databaseName(env, project)) return undefined;
  return folder === undefined || server.roots.some((root) => isWithin(root, folder)) ? server : undefined;
}

function isWithin(root: string, folder: string): boolean {
  const way = relative(root, folder);
  return !way.startsWith("..") && !isAbsolute(way);
}

function logTo({ stderr, debug }: Invocation, details: Record<string, unknown>, message: string): void {
  if (debug) stderr.write(`${message} ${JSON.stringify(details)}\n`);
}
