import {
  newId,
  REDACTED,
  RequestError,
  type Approval,
  type ApprovalAnswer,
  type Rule,
  type SessionEvent,
} from "@tandem/protocol";
import { checkMode, type HostAccount, type SessionRules } from "@tandem/policy";
import type { Answer } from "./pending-calls.ts";
import { readAnswers } from "./questions.ts";

/** The context that an answer is checked against. */
interface AnswerGround {
  account: HostAccount;
  /** Whether the caller may save rules that outlive the session or are wider than the suggestion. */
  mayKeepRules: boolean;
  /** Whether a rule would match the pending call. */
  covers: (rule: Parameters<SessionRules["covers"]>[0]) => boolean;
}

/** The event that carries an answer into a session's input queue. Throws if the answer is invalid or not permitted. */
export function answerEvent(approval: Approval, answer: ApprovalAnswer, by: string, ground: AnswerGround): Answer {
  check(approval, answer, ground);
  const { result, message, ...rest } = answer;
  const place = { id: newId("event"), processed_at: null };
  if (approval.kind === "question") {
    const text = result === "allow" ? JSON.stringify(answer.input) : (message ?? "The user did not answer.");
    const content = [{ type: "text" as const, text }];
    if (result === "allow") readAnswers(approval.input, content);
    const given = { custom_tool_use_id: approval.id, content, is_error: result === "deny" };
    return { type: "user.custom_tool_result", ...given, tandem: { by }, ...place };
  }
  return {
    type: "user.tool_confirmation",
    tool_use_id: approval.id,
    result,
    ...(message !== undefined && { deny_message: message }),
    tandem: { ...rest, by, ...(rest.scope === "always" && { save_for: rest.save_for ?? "project" }) },
    ...place,
  };
}

/** The denial of an expired request. */
export function expiredAnswer(approval: Approval): Answer {
  const text = `No one answered until ${approval.expires_at}, so the call was denied.`;
  const place = { id: newId("event"), processed_at: null };
  const tandem = { by: "tandem", expired: true as const };
  return approval.kind === "question"
    ? {
        type: "user.custom_tool_result",
        custom_tool_use_id: approval.id,
        content: [{ type: "text" as const, text }],
        is_error: true,
        tandem,
        ...place,
      }
    : {
        type: "user.tool_confirmation",
        tool_use_id: approval.id,
        result: "deny" as const,
        deny_message: text,
        tandem: { scope: "once", ...tandem },
        ...place,
      };
}

/** The call that an event answers, if it answers one. */
export const answeredCall = (event: SessionEvent): string | undefined => {
  if (event.type === "user.tool_confirmation" || event.type === "user.tool_result") return event.tool_use_id;
  return event.type === "user.custom_tool_result" ? event.custom_tool_use_id : undefined;
};

function check({ kind, suggestion }: Approval, answer: ApprovalAnswer, ground: AnswerGround): void {
  const { result, scope, save_for: place, rule, input, mode, message } = answer;
  const isAllowed = result === "allow";
  if (message !== undefined && isAllowed) throw invalid("message: only a denial has one");
  if (place !== undefined && scope !== "always") throw invalid("save_for: only with the scope always");
  if (rule !== undefined && scope === "once") throw invalid("rule: only with the scope session or always");
  if (input !== undefined && (!isAllowed || scope !== "once")) {
    throw invalid("input: only where the call is allowed, once");
  }
  if (kind === "tool" && input !== undefined && JSON.stringify(input).includes(REDACTED)) {
    throw new RequestError(
      "invalid_request",
      `input: it contains ${REDACTED}, which stands for a credential that is not shown. The call would run with the placeholder.`,
      { fix: "Allow the call unchanged, or replace the placeholder." },
    );
  }
  if (mode !== undefined && kind !== "plan") throw invalid("mode: only the answer to a plan chooses one");
  if (mode !== undefined && (!isAllowed || mode === "plan")) {
    throw invalid("mode: expected default, acceptEdits or bypassPermissions, and the plan to be allowed");
  }
  if (mode !== undefined) checkMode(mode, ground.account, "mode");
  if (kind !== "tool" && scope !== "once") throw invalid(`scope: a ${kind} is answered once`);
  if (kind === "plan" && input !== undefined)
    throw invalid("input: a plan is not edited; deny it, and say what to change");
  if (kind === "question" && isAllowed && input === undefined) {
    throw invalid('input: expected {"answers": {"QUESTION": "ANSWER"}}');
  }
  if (scope === "once") return;
  const kept = rule ?? (isAllowed ? suggestion : undefined);
  if (!kept) {
    const why = isAllowed ? "no rule would be safe to suggest for this call" : "a denial suggests none";
    throw invalid(`rule: ${why}; give the one that is to be kept, or answer once`);
  }
  if (kept.action !== result) throw invalid(`rule: its action is ${kept.action}, and the answer is ${result}`);
  if (rule !== undefined && !ground.covers(rule)) {
    throw invalid(`rule: it would not ${result} the call that is asked about`);
  }
  if (ground.mayKeepRules) return;
  if (scope === "always") {
    throw new RequestError(
      "forbidden",
      "To keep a rule for more than the session needs a token with the scope admin.",
      { fix: "Answer for the session, or once." },
    );
  }
  if (isAllowed && rule !== undefined && !isSameRule(rule, suggestion)) {
    throw new RequestError("forbidden", "To allow more than was suggested needs a token with the scope admin.", {
      fix: "Leave the rule out, or answer once.",
    });
  }
}

const isSameRule = (a: Rule, b: Rule | undefined): boolean =>
  a.tool === b?.tool && a.pattern === b.pattern && a.action === b.action;

const invalid = (words: string): RequestError => new RequestError("invalid_request", `${words}.`);
