import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import type { ConversationSetup } from "./conversation.ts";

/**
 * Paths that a sandboxed command must not read: Claude Code's credentials and Tandem's folder, except for the session's
 * own folder and Claude Code's data in it. Listed entry by entry, because denying the whole folder would include those
 * exceptions.
 */
export function secretPaths({
  stateFolder,
  folder,
  hostVariables,
}: Pick<ConversationSetup, "stateFolder" | "folder" | "hostVariables">): string[] {
  const home = hostVariables["HOME"] ?? homedir();
  const operator = operatorsHome(stateFolder, hostVariables);
  const configDirs = [join(home, ".claude"), join(stateFolder, "claude-code"), hostVariables["CLAUDE_CONFIG_DIR"]];
  if (operator !== undefined) configDirs.push(join(homedir(), ".claude"), process.env["CLAUDE_CONFIG_DIR"]);
  // State files can contain an API key too.
  const names = [".credentials.json", ".claude.json", ".config.json"];
  const credentials = configDirs.flatMap((dir) => (dir ? names.map((name) => join(dir, name)) : []));
  const own = entriesOf(stateFolder)
    .filter((name) => name !== "claude-code")
    .map((name) => join(stateFolder, name))
    .filter((path) => !`${folder}${sep}`.startsWith(path + sep));
  const others =
    operator === undefined ? [] : [...siblingsOnPath(operator, stateFolder), join(homedir(), ".claude.json")];
  // The token file may be created later.
  return [...new Set([...own, ...others, join(stateFolder, "token"), ...credentials, join(home, ".claude.json")])];
}

/** For a tenant's session: the operator's home, which contains the tenant's folder. */
function operatorsHome(stateFolder: string, variables: ConversationSetup["hostVariables"]): string | undefined {
  const home = variables["TANDEM_TRUST_HOME"];
  return home !== undefined && stateFolder.startsWith(home + sep) ? home : undefined;
}

/** All siblings on the path from one folder down to another: the operator's files and other tenants' folders. */
function siblingsOnPath(from: string, to: string): string[] {
  if (from === to) return [];
  const way = entriesOf(from).map((name) => join(from, name));
  const next = way.find((path) => `${to}${sep}`.startsWith(path + sep));
  return [...way.filter((path) => path !== next), ...(next === undefined ? [] : siblingsOnPath(next, to))];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
