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
  const operator = operatorsHome(stateFolder, hostVariables);
  const configDirs = [
    ...[join(home, ".claude"), join(stateFolder, "claude-code"), hostVariables["CLAUDE_CONFIG_DIR"]],
    ...(operator === undefined ? [] : [join(homedir(), ".claude"), process.env["CLAUDE_CONFIG_DIR"]]),
  ];
  // State files may hold a key, too.
  const names = [".credentials.json", ".claude.json", ".config.json"];
  const credentials = configDirs.flatMap((dir) => (dir ? names.map((name) => join(dir, name)) : []));
  const own = entriesOf(stateFolder)
    .filter((name) => name !== "claude-code")
    .map((name) => join(stateFolder, name))
    .filter((path) => !`${folder}${sep}`.startsWith(path + sep));
  const others = operator === undefined ? [] : [...besides(operator, stateFolder), join(homedir(), ".claude.json")];
  // It may be made later than this.
  return [...new Set([...own, ...others, join(stateFolder, "token"), ...credentials, join(home, ".claude.json")])];
}

/** Of a tenant's session: where the operator's state is, in which the tenant's folder lies. */
function operatorsHome(stateFolder: string, variables: ConversationSetup["hostVariables"]): string | undefined {
  const home = variables["TANDEM_TRUST_HOME"];
  return home !== undefined && stateFolder.startsWith(home + sep) ? home : undefined;
}

/** All that lies beside the way from one folder down to another: the operator's own, and what is other tenants'. */
function besides(from: string, to: string): string[] {
  if (from === to) return [];
  const way = entriesOf(from).map((name) => join(from, name));
  const next = way.find((path) => `${to}${sep}`.startsWith(path + sep));
  return [...way.filter((path) => path !== next), ...(next === undefined ? [] : besides(next, to))];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
