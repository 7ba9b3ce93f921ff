import { SESSION_METADATA, type RuleScope } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { unmade } from "./late-result.ts";
import { closing, type OpenCall, type Placed } from "../log/open-turn.ts";
import type { Rules } from "../rules/rules.ts";
import type { Answer } from "./pending-calls.ts";
import { nextMode, outcomeOf, resolution } from "./outcome.ts";

/** Events and row changes that an answer causes. `late`: the process that asked has ended. */
export function settleAnswer(
  call: OpenCall,
  answer: Answer,
  { row, late }: { row: SessionRow; late: boolean },
): { events: Placed[]; change: SessionChange } {
  const outcome = outcomeOf(call, answer, late);
  const mode = nextMode(call, answer);
  const metadata = mode && { ...row.metadata, [SESSION_METADATA.permissionMode]: mode };
  return {
    events: [
      ...(late && answer.type === "user.tool_confirmation" ? [closing(call, "crash", unmade(call, answer))] : []),
      ...resolution(call, outcome),
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
