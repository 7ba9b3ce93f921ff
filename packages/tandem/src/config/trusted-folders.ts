import type { FolderTrust } from "@tandem/sessions";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { Variables } from "./tandem-home.ts";
import { TrustFile } from "./trust-file.ts";

// Folders whose settings, hooks, MCP servers and skills may be used in sessions. Trust covers their current content: a change
// in `.claude` or `.mcp.json` must be trusted again.

const file = new TrustFile("trusted-folders.json", z.object({ since: z.string(), identity: z.string() }));

/** The identity of a folder without such files. Language servers run in it once it is trusted. */
const NO_FILES = "empty";

export interface TrustSettings {
  /** Whether sessions load the settings of trusted folders. */
  settings: "none" | "trusted";
  /** Folders that the config trusts regardless of their content. Real paths. */
  always: readonly string[];
}

/** Checks the folder's current content. A git worktree is trusted if its repository's folder is, with the same files. */
export async function folderTrust(env: Variables, path: string, settings: TrustSettings): Promise<FolderTrust> {
  const { readFolderConfig, mainFolderOf } = await import("@tandem/workspace/folder-config");
  const config = await readFolderConfig(path).catch((error: unknown) => {
    if (error instanceof RequestError) return error;
    throw error;
  });
  const root = await mainFolderOf(path);
  if (config instanceof RequestError) {
    return { trusted: false, state: "refused", folder: root ?? path, since: null, reason: config.message };
  }
  const { folder, identity } = config;
  const none = { trusted: false, folder: root ?? folder, since: null, config };
  if (settings.settings === "none") {
    if (identity === undefined) return { ...none, state: "empty" };
    return { ...none, state: "refused", reason: "sessions.settings is none." };
  }
  const known = await file.read(env);
  for (const place of [folder, root].filter((each) => each !== undefined)) {
    const entry = Object.hasOwn(known, place) ? known[place] : undefined;
    if (settings.always.includes(place)) return { ...none, trusted: true, state: "trusted", folder: place };
    if (entry?.identity === (identity ?? NO_FILES)) {
      return { trusted: true, state: "trusted", folder: place, since: entry.since, config };
    }
    if (entry && identity !== undefined) return { ...none, state: "changed", folder: place, since: entry.since };
  }
  return { ...none, state: identity === undefined ? "empty" : "untrusted" };
}

/** Trusts the folder's content, if it has not changed since the user saw it. */
export async function trustFolderAs(env: Variables, { folder, config }: FolderTrust): Promise<void> {
  if (!config) return;
  const entry = { since: new Date().toISOString(), identity: config.identity ?? NO_FILES };
  await file.write(env, { ...(await file.read(env)), [folder]: entry });
}

export const revokeFolder = (env: Variables, folder: string): Promise<boolean> => file.remove(env, folder);

export const trustedFolders = (env: Variables): ReturnType<typeof file.read> => file.read(env);
