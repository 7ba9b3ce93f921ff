import { join } from "node:path";
import type { ConversationSetup } from "@tandem/claude-code";

/** The folder where Claude Code writes its plans: the only place it writes to in plan mode. */
export function plansFolder({
  credential,
  hostVariables,
  stateFolder,
  sandbox,
}: Pick<ConversationSetup, "credential" | "hostVariables" | "stateFolder" | "sandbox">): string {
  if (sandbox?.on && sandbox.covers === "process") return join(sandbox.configDir, "plans");
  const own = credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
  return join(own ?? join(hostVariables["HOME"] ?? "", ".claude"), "plans");
}
