import { TandemError } from "@tandem/protocol";
import type { Writable } from "node:stream";
import { loadAcp } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { serverFor } from "../sessions/open-client.ts";
import { serverAccess } from "../sessions/server-connection.ts";

/**
 * Connects the editor to the running server, if that uses our database and may work in this folder. A session has one writer,
 * and the page shows the editor's sessions. Returns false without such a server.
 */
export async function pipeToServer(
  invocation: Invocation,
  options: { agent?: string },
  { output, signal }: { output: Writable; signal: AbortSignal },
): Promise<boolean> {
  const project = await openProjectOrDefaults(invocation).catch(() => undefined);
  if (!project || !(await serverFor(invocation, project, invocation.cwd))) return false;
  const { pipeAcp } = await (await loadAcp()).loadPipe();
  await pipeAcp({ input: invocation.stdin, output, signal, find: () => find(invocation, project, options) });
  return true;
}

/** After a restart this finds the new server. */
async function find(invocation: Invocation, project: Project, { agent }: { agent?: string }) {
  const server = await serverFor(invocation, project, invocation.cwd);
  if (!server) {
    throw new TandemError("network", "The Tandem server that this editor used has stopped.", {
      fix: "Start it with `tandem up`, or restart the agent to continue without it.",
    });
  }
  return { ...(await serverAccess(server)), query: { ...(agent && { agent }) } };
}
