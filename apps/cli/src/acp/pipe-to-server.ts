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
  context: Invocation,
  options: { agent?: string },
  { output, signal }: { output: Writable; signal: AbortSignal },
): Promise<boolean> {
  const project = await openProjectOrDefaults(context).catch(() => undefined);
  if (!project || !(await serverFor(context, project, context.cwd))) return false;
  const { pipeAcp } = await (await loadAcp()).loadPipe();
  await pipeAcp({ input: context.stdin, output, signal, find: () => find(context, project, options) });
  return true;
}

/** After a restart this finds the new server. */
async function find(context: Invocation, project: Project, { agent }: { agent?: string }) {
  const server = await serverFor(context, project, context.cwd);
  if (!server) {
    throw new TandemError("network", "The Tandem server that this editor was using is not up any more.", {
      fix: "Start it again with `tandem up`, or start the agent again to go on without it.",
    });
  }
  return { ...(await serverAccess(server)), query: { ...(agent && { agent }) } };
}
