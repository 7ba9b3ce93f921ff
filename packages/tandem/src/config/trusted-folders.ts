import type { FolderTrust } from "@tandem/sessions";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { Variables } from "./tandem-home.ts";
import { TrustFile } from "./trust-file.ts";

// Folders whose settings, hooks, MCP servers and skills may act in sessions. What is trusted is what was there then: whatever
// changes in `.claude` or `.mcp.json` asks again.

const file = new TrustFile("trusted-folders.json", z.object({ since: z.string(), identity: z.string() }));

export interface TrustSettings {
  /** Whether anything of trusted folders loads. */
  settings: "none" | "trusted";
  /** Folders that the config trusts, whatever is in them; real paths. */
  always: readonly string[];
}

/** Whether a folder is trusted as it is now. A git worktree is if its repository's folder is, with the same files. */
export async function folderTrust(env: Variables, path: string, settings: TrustSettings): Promise<FolderTrust> {
  const { readFolderConfig, mainFolderOf } = await import("@tandem/workspace");
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
  if (identity === undefined) return { ...none, state: "empty" };
  if (settings.settings === "none") return { ...none, state: "refused", reason: "sessions.settings is none." };
  const known = await file.read(env);
  for (const place of [folder, root].filter((each) => each !== undefined)) {
    const entry = Object.hasOwn(known, place) ? known[place] : undefined;
    if (settings.always.includes(place)) return { ...none, trusted: true, state: "trusted", folder: place };
    if (entry?.identity === identity) {
      return { trusted: true, state: "trusted", folder: place, since: entry.since, config };
    }
    if (entry) return { ...none, state: "changed", folder: place, since: entry.since };
  }
  return { ...none, state: "untrusted" };
}

/** Trusts what the folder brings, if it still is what it was when it was looked at. */
export async function trustFolderAs(env: Variables, { folder, config }: FolderTrust): Promise<void> {
  if (config?.identity === undefined) return;
  const entry = { since: new Date().toISOString(), identity: config.identity };
  await file.write(env, { ...(await file.read(env)), [folder]: entry });
}

export const revokeFolder = (env: Variables, folder: string): Promise<boolean> => file.remove(env, folder);

export const trustedFolders = (env: Variables): ReturnType<typeof file.read> => file.read(env);
