import type { Logger, Wire } from "@tandem/server";
import { sessionRoots } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { openStdioWire } from "@tandem/tandem/stdio";
import type { Invocation } from "../invocation.ts";
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
  return { ...(await openStdioWire(invocation, project, logger, { stopMs: STOP_MS })), engine: "own" };
}
