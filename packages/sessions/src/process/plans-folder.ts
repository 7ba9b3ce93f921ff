import { join } from "node:path";
import type { ConversationSetup } from "@tandem/claude-code";

/** The folder where Claude Code writes its plans: the only place it writes to in plan mode. */
export function plansFolder({
  credential,
  hostVariables,
  stateFolder,
}: Pick<ConversationSetup, "credential" | "hostVariables" | "stateFolder">): string {
  const own = credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
  return join(own ?? join(hostVariables["HOME"] ?? "", ".claude"), "plans");
}
