import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import type { ConversationSetup } from "./conversation.ts";

/**
 * What a sandboxed command has no business to read: Claude Code's credentials, and what is in Tandem's folder, but for the
 * session's own folder and what Claude Code keeps there. Entry by entry: denying the whole would take these along.
 */
export function secretPaths({
  stateFolder,
  folder,
  hostVariables,
}: Pick<ConversationSetup, "stateFolder" | "folder" | "hostVariables">): string[] {
  const home = hostVariables["HOME"] ?? homedir();
  const configDirs = [join(home, ".claude"), join(stateFolder, "claude-code"), hostVariables["CLAUDE_CONFIG_DIR"]];
  // State files may hold a key, too.
  const names = [".credentials.json", ".claude.json", ".config.json"];
  const credentials = configDirs.flatMap((dir) => (dir ? names.map((name) => join(dir, name)) : []));
  const own = entriesOf(stateFolder)
    .filter((name) => name !== "claude-code")
    .map((name) => join(stateFolder, name))
    .filter((path) => !`${folder}${sep}`.startsWith(path + sep));
  // It may be made later than this.
  return [...new Set([...own, join(stateFolder, "token"), ...credentials, join(home, ".claude.json")])];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
