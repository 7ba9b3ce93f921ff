import { QUESTION_TOOL, SESSION_METADATA } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

/**
 * The tools by which an agent asks a person, in Claude Code's names. Questions are offered to every agent that has the
 * toolset, unless the session says that nobody is there to answer, or the agent brings a tool of that name itself.
 */
export function askingTools({ agent: { tools }, metadata }: SessionRow, isPlanning: boolean): string[] {
  if (!tools.some(({ type }) => type === "agent_toolset_20260401")) return [];
  const isOwn = tools.some((tool) => tool.type === "custom" && tool.name === QUESTION_TOOL);
  const asks = metadata[SESSION_METADATA.questions] !== "off" && !isOwn;
  return [...(asks ? ["AskUserQuestion"] : []), ...(isPlanning ? ["ExitPlanMode"] : [])];
}
