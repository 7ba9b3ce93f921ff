import type { EventId, ToolCallState } from "@tandem/protocol";
import type { Placed } from "../log/open-turn.ts";

/** Logs the state of a call on the primary thread, where clients look for approvals. */
export const toolState = (call: EventId, state: ToolCallState, reason?: string): Placed => ({
  thread: null,
  body: { type: "tandem.tool_state", event_id: call, state, ...(reason !== undefined && { reason }) },
});
