import { QUESTION_TOOL, SESSION_METADATA } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

/**
 * Tools that ask a person, by Claude Code's names. Every agent with the toolset gets the question tool, unless the session
 * turns questions off or the agent has its own tool of that name.
 */
export function askingTools({ agent: { tools }, metadata }: SessionRow, isPlanning: boolean): string[] {
  if (!tools.some(({ type }) => type === "agent_toolset_20260401")) return [];
  const isOwn = tools.some((tool) => tool.type === "custom" && tool.name === QUESTION_TOOL);
  const asks = metadata[SESSION_METADATA.questions] !== "off" && !isOwn;
  return [...(asks ? ["AskUserQuestion"] : []), ...(isPlanning ? ["ExitPlanMode"] : [])];
}
