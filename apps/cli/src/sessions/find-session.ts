import { ENVIRONMENT_METADATA, RequestError, type Session } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import type { Invocation } from "../invocation.ts";
import { printable, noteLine, write } from "../terminal.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** The description of an optional session argument. */
export const SESSION_ARGUMENT =
  "session id; `last` is the newest of all folders (default: the last session of this folder)";

/** True for an argument that names a session, and not the words that follow it. */
export const isSessionId = (text: string | undefined): text is string => /^(last|sesn_\w+)$/.test(text ?? "");

/** Finds a session by id. `last` is the newest; without an id it is the newest of this folder, which is then named on stderr. */
export async function findSession(
  client: SessionsClient,
  id: string | undefined,
  invocation: Invocation,
): Promise<Session> {
  if (id === undefined) return findInFolder(client, invocation);
  if (id !== "last") return client.sessions.get(id);
  const [session] = (await client.sessions.list({ limit: 1, order: "desc" })).data;
  if (session) return session;
  throw new RequestError("not_found", "There are no sessions yet.", { fix: 'Start one: tandem run "…".' });
}

async function findInFolder(client: SessionsClient, invocation: Invocation): Promise<Session> {
  const folder = realpathSync(invocation.cwd);
  const here = new Set<string>();
  for await (const { id, metadata } of listAll((query) => client.environments.list(query))) {
    const path = metadata[ENVIRONMENT_METADATA.path];
    if (path !== undefined && isWithin(path, folder)) here.add(id);
  }
  for await (const session of listAll((query) => client.sessions.list(query), { order: "desc" })) {
    if (!here.has(session.environment_id)) continue;
    await nameSession(invocation, session);
    return session;
  }
  throw new RequestError("not_found", `No session has worked in ${folder}.`, {
    fix: 'Name a session (`tandem sessions` lists them), or start one here: tandem run "…".',
  });
}

/** Tells the user which session a command without an id works on. */
export async function nameSession(
  { stderr, json }: Invocation,
  { id, title }: { id: string; title: string | null },
): Promise<void> {
  if (json) return;
  await write(stderr, noteLine(stderr, `Session ${id}${title === null ? "" : `: ${printable(title)}`}`));
}

/** True if `folder` is `root` or below it. */
export function isWithin(root: string, folder: string): boolean {
  const path = relative(root, folder);
  return path !== ".." && !path.startsWith("../") && !isAbsolute(path);
}
