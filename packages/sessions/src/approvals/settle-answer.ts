import { SESSION_METADATA, type ApprovalOutcome, type RuleScope } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { DID_NOT_RUN, settledResult } from "./late-result.ts";
import { isWorkerCall, resultOf, type OpenCall, type Placed } from "../log/open-turn.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { allowsRun, type Answer } from "./pending-calls.ts";
import { isApproval, nextMode, outcomeOf, resolution } from "./outcome.ts";
import { toolState } from "./tool-state.ts";

/** Events and row changes that an answer causes. `late`: the process that asked has ended. */
export function settleAnswer(
  call: OpenCall,
  answer: Answer,
  { row, late, at }: { row: SessionRow; late: boolean; at: string },
): { events: Placed[]; change: SessionChange } {
  const outcome = outcomeOf(call, answer, { late, at });
  const mode = nextMode(call, answer);
  const result = late ? settledResult(call, answer) : undefined;
  const metadata = mode && { ...row.metadata, [SESSION_METADATA.permissionMode]: mode };
  return {
    events: [
      ...(result ? [resultOf(call, { content: [{ type: "text", text: result.text }], is_error: result.isError })] : []),
      ...resolution(call, outcome),
      ...stateAfter(call, answer, outcome, late),
      ...(mode && metadata
        ? [
            { thread: null, body: { type: "session.updated" as const, metadata } },
            { thread: null, body: { type: "tandem.mode" as const, mode, by: outcome.by } },
          ]
        : []),
    ],
    change: metadata ? { metadata } : {},
  };
}

function stateAfter(call: OpenCall, answer: Answer, { outcome }: ApprovalOutcome, late: boolean): Placed[] {
  const { id } = call.use;
  if (call.confirmation && answer.type === "user.tool_result")
    return [toolState(id, answer.is_error ? "failed" : "done")];
  if (!isApproval(call) || call.use.tandem.outcome_of !== undefined) return [];
  switch (outcome) {
    case "allowed":
      if (isWorkerCall(call)) return [toolState(id, "running")];
      // The answer to a question or a plan is its whole effect.
      if (!allowsRun({ call, answer })) return [toolState(id, "done")];
      // A subagent's call cannot run without its process.
      return [late && call.thread !== null ? toolState(id, "interrupted", DID_NOT_RUN) : toolState(id, "allowed")];
    case "denied":
    case "expired":
      return [toolState(id, outcome)];
    case "cancelled":
      return [toolState(id, "interrupted")];
  }
}

/** Saves the rule of an answer with a wider scope. Idempotent, for a retry after a crash. */
export async function saveRule(call: OpenCall, answer: Answer, row: SessionRow, rules: Rules): Promise<void> {
  if (answer.type !== "user.tool_confirmation" || !answer.tandem || answer.tandem.scope === "once") return;
  const rule = answer.tandem.rule ?? call.use.tandem.approval?.suggestion;
  if (!rule) return;
  const place = placeOf(answer.tandem.scope === "session" ? "session" : (answer.tandem.save_for ?? "project"), row);
  await rules.add(rule, { ...place, by: answer.tandem.by });
}

/** The owner of a rule saved from a session. */
function placeOf(scope: RuleScope, row: SessionRow): { scope: RuleScope; of: string | null } {
  const of = { user: null, project: row.folder, agent: row.agent.id, session: row.id };
  return { scope, of: of[scope] };
}
