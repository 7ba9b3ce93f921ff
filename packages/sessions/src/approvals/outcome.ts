import type { ApprovalOutcome, PermissionMode } from "@tandem/protocol";
import type { OpenCall, Placed } from "../log/open-turn.ts";
import type { Answer } from "./pending-calls.ts";
import { toolState } from "./tool-state.ts";

/** Whether a call asks a person, rather than a client that has the tool. */
export const isApproval = ({ use, confirmation }: OpenCall): boolean => {
  if (use.type === "agent.custom_tool_use") return use.tandem.approval !== undefined;
  return use.evaluated_permission === "ask" && confirmation === undefined;
};

/** The outcome of a request after this answer at `at`. `late`: the process that asked has ended. */
export function outcomeOf(
  call: OpenCall,
  answer: Answer,
  { late, at }: { late: boolean; at: string },
): ApprovalOutcome {
  const base = { by: answer.tandem?.by ?? "unknown", at, ...(late && { late }) };
  if (answer.tandem?.expired) return { outcome: "expired", ...base };
  if (answer.type !== "user.tool_confirmation") return { outcome: answer.is_error ? "denied" : "allowed", ...base };
  const { tandem, deny_message: message } = answer;
  if (answer.result === "deny") return { outcome: "denied", ...base, ...(message != null && { message }) };
  const mode = nextMode(call, answer);
  return {
    outcome: "allowed",
    ...base,
    scope: tandem?.scope ?? "once",
    ...(tandem?.input && { edited: true }),
    ...(mode && { mode }),
  };
}

/** The session's mode after an approved plan. */
export function nextMode({ use }: OpenCall, answer: Answer): PermissionMode | undefined {
  const isPlan = use.tandem.approval?.kind === "plan";
  if (!isPlan || answer.type !== "user.tool_confirmation" || answer.result !== "allow") return undefined;
  return answer.tandem?.mode ?? "default";
}

/** Logs the outcome of a request on the primary thread. Nothing for calls that asked no person. */
export const resolution = (call: OpenCall, outcome: ApprovalOutcome): Placed[] =>
  isApproval(call)
    ? [{ thread: null, body: { type: "tandem.approval_resolved", event_id: call.use.id, ...outcome } }]
    : [];

/** The request ended without an answer: the call did not run. */
export const cancellation = (call: OpenCall, at: string): Placed[] => [
  ...resolution(call, { outcome: "cancelled", by: "tandem", at }),
  ...(isApproval(call) && call.use.tandem.outcome_of === undefined ? [toolState(call.use.id, "interrupted")] : []),
];
