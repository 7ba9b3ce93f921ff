import { type ResponseOf, TandemError } from "@tandem/protocol";
import { contextId } from "@tandem/tandem/compose";
import { type Project, requireTrust } from "@tandem/tandem/config";
import type { ServerInfo } from "@tandem/tandem/server";
import type { Invocation } from "./invocation.ts";
import { serverFor } from "./sessions/open-client.ts";
import { ServerConnection } from "./sessions/server-connection.ts";

export type ServedOverview = ResponseOf<"context.retrieve">;

/** A connection to the running server of a project's context. */
export interface ContextConnection extends Disposable {
  server: ServerInfo;
  api: ServerConnection["api"];
}

/**
 * Connects to the running server if it serves this project's context and `canServe` accepts it. Reads neither the database nor
 * its secrets, which only the server may have.
 */
export async function connectContext(
  invocation: Invocation,
  project: Project,
  canServe: (served: ServedOverview) => boolean = () => true,
): Promise<ContextConnection | undefined> {
  const server = await serverFor(invocation, project);
  if (!server) return undefined;
  // The config names the folder that is opened below.
  await requireTrust(invocation.env, project);
  using parts = new DisposableStack();
  const { api } = parts.use(await ServerConnection.open(server));
  const served = await api.call("context.retrieve").catch((error: unknown) => {
    // The server's own project has no context.
    if (error instanceof TandemError && error.code === "not_found") return undefined;
    throw error;
  });
  if (!served || !canServe(served) || served.id !== (await contextId(project))) return undefined;
  const owned = parts.move();
  return { server, api, [Symbol.dispose]: () => owned.dispose() };
}

/** Explains a secret that this command's environment has and the server's lacks. */
export function missingInServer(
  names: readonly string[],
  { env }: Pick<Invocation, "env">,
  { url, pid }: ServerInfo,
  what: string,
): string | undefined {
  const known = names.filter((name) => env[name]);
  if (known.length === 0) return undefined;
  return `The server at ${url} (pid ${pid}) ${what}, and its environment has no ${known.join(", ")}. Start the server with it, or stop the server and run this again.`;
}
