import type { PartOf } from "@tandem/protocol";

type ToolPart = PartOf<"tool">;

const READ_ONLY = new Set(["Read", "Grep", "Glob", "LS", "NotebookRead", "ToolSearch"]);
const WEB = new Set(["WebFetch", "WebSearch"]);
const LISTS = new Set(["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"]);
const CHANGES = new Set(["Edit", "Write", "MultiEdit"]);
/** These calls are never grouped. */
const ALONE = new Set([...CHANGES, "NotebookEdit", "ExitPlanMode", "Agent", "Task"]);

/** The group of similar calls; undefined for calls that are shown alone. */
export function familyOf(part: ToolPart): { name: string; isReadOnly: boolean } | undefined {
  const { name, server, permission, state } = part;
  if (name === null || ALONE.has(name) || part.kind === "custom") return undefined;
  if (permission?.type === "asked" || permission?.type === "denied") return undefined;
  if (state.type === "pending" || (state.type === "error" && !READ_ONLY.has(name))) return undefined;
  if (READ_ONLY.has(name)) return { name: "look", isReadOnly: true };
  if (WEB.has(name)) return { name: "web", isReadOnly: true };
  return { name: `${server ?? ""}/${name}`, isReadOnly: false };
}

export const isFileChange = ({ name }: ToolPart): boolean => name !== null && CHANGES.has(name);
export const isTodoUpdate = ({ name }: ToolPart): boolean => name !== null && LISTS.has(name);
export const isSubagentCall = ({ name }: ToolPart): boolean => name === "Agent" || name === "Task";
