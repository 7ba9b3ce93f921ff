import { dirname, join, resolve } from "node:path";
import type { ConversationSetup } from "@tandem/claude-code";
import type { JudgedCall } from "../rules/rule-book.ts";

const WRITES = new Set(["Write", "Edit", "Read"]);

/** Where Claude Code has its plans written, which is the one thing that it writes while it plans. */
export function plansFolder({
  credential,
  hostVariables,
  stateFolder,
}: Pick<ConversationSetup, "credential" | "hostVariables" | "stateFolder">): string {
  const own = credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
  return join(own ?? join(hostVariables["HOME"] ?? "", ".claude"), "plans");
}

export const isPlanFile = ({ name, mcpServer, input }: JudgedCall, plans: string): boolean => {
  const { file_path: path } = input;
  if (mcpServer !== undefined || !WRITES.has(name) || typeof path !== "string") return false;
  return path.endsWith(".md") && dirname(resolve(path)) === resolve(plans);
};
