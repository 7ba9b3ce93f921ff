import { databaseName, type Project } from "@tandem/tandem/config";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import type { Invocation } from "../invocation.ts";
import { addFolder, findServer, readAddedFolders, type ServerInfo } from "@tandem/tandem/server";
import { canAsk, choose } from "../input/choose.ts";
import { createServerClient } from "./server-client.ts";
import { isWithin } from "./find-session.ts";
import { ServerConnection } from "./server-connection.ts";
import { noteLine, styleFor } from "../terminal.ts";
import type { ClientOptions, SessionsClient } from "./sessions-client.ts";

/**
 * Connects to the running server if it uses our database or is the demo, else opens an engine in this process on the same
 * store.
 */
export async function openClient(
  invocation: Invocation,
  project: Project,
  options: ClientOptions,
): Promise<SessionsClient> {
  const demo = await runningDemo(invocation);
  if (demo && !invocation.json) invocation.stderr.write(noteLine(invocation.stderr, DEMO_NOTE));
  const server =
    demo ?? (await serverFor(invocation, project, options.folder)) ?? (await offerServer(invocation, project, options));
  if (server) return createServerClient(await ServerConnection.open(server));
  // Imported lazily: a command beside a running server needs no engine.
  const { openLocalClient } = await import("./open-local-client.ts");
  return openLocalClient(invocation, project, options);
}

/** Opens the client of a command that needs no project. */
export const clientFor =
  (command: string) =>
  async (invocation: Invocation): Promise<SessionsClient> =>
    openClient(invocation, await openProjectOrDefaults(invocation), { command });

const DEMO_NOTE = "The demo is running, so this command uses it: scripted answers, no cost.";

/** The running server, if it is the demo. Commands use it from every folder. */
export async function runningDemo({
  env,
  claudePath,
}: Pick<Invocation, "env" | "claudePath">): Promise<ServerInfo | undefined> {
  const server = claudePath === undefined ? await findServer(env) : undefined;
  return server?.demo ? server : undefined;
}

/** The running server, if it can do what this command needs. It runs its own choice of Claude Code. */
export async function serverFor(
  { env, claudePath }: Pick<Invocation, "env" | "claudePath">,
  project: Project,
  folder?: string,
): Promise<ServerInfo | undefined> {
  const server = claudePath === undefined ? await findServer(env) : undefined;
  if (server?.database !== databaseName(env, project)) return undefined;
  return folder === undefined || (await mayWorkIn(env, server, folder)) ? server : undefined;
}

const mayWorkIn = async (env: Invocation["env"], { roots }: ServerInfo, folder: string): Promise<boolean> =>
  [...roots, ...(await readAddedFolders(env))].some((root) => isWithin(root, folder));

/** Says why an agent does not run on the running server, and offers to add the folder to it. */
async function offerServer(
  invocation: Invocation,
  project: Project,
  { folder, runs = false }: ClientOptions,
): Promise<ServerInfo | undefined> {
  const { env, claudePath, stderr, json } = invocation;
  const server = runs && folder !== undefined && claudePath === undefined ? await findServer(env) : undefined;
  if (!server || folder === undefined || json) return undefined;
  const { dim } = styleFor(stderr);
  const note = (text: string): void => void stderr.write(`${dim(text)}\n`);
  if (server.database !== databaseName(env, project)) {
    note(`The server at ${server.url} uses another database, so the agent runs in this process.`);
    return undefined;
  }
  const reason = `The server at ${server.url} has other folders (${server.roots.join(", ")})`;
  if (!canAsk(invocation)) {
    note(`${reason}, so the agent runs in this process. Add this folder to the server: tandem folders add`);
    return undefined;
  }
  const key = await choose(invocation, `${reason}.`, { a: "add this folder and use it", r: "run without the server" });
  if (key === "r") return undefined;
  await addFolder(env, folder);
  return server;
}
