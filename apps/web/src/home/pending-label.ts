import { QUESTION_TOOL } from "@tandem/protocol";
import type { FeedSession } from "../live/session-feed.ts";

/** Names the decision that a session waits for. Never includes the tool's input: others may see notifications. */
export function pendingLabel({ type, name }: FeedSession["waiting_for"][number]): string {
  if (name === QUESTION_TOOL) return "has a question";
  if (name === "ExitPlanMode") return "has a plan to approve";
  return type === "tool_confirmation" ? `asks to use ${name}` : `waits for the result of ${name}`;
}
