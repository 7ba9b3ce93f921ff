import type { LateResult, ModelContent } from "@tandem/claude-code";
import { QUESTION_TOOL, type ApprovalNote, type ToolResultContent } from "@tandem/protocol";
import { inWords, readAnswers, refusal } from "./questions.ts";
import { isWorkerCall, type OpenCall } from "../log/open-turn.ts";
import type { Answer } from "./pending-calls.ts";

/**
 * The text for the model about a call answered after its process had ended: the result of a custom tool, the answers to a
 * question, the approval of a plan, a denial, or the outcome that a person reports. An allowed call is not told: it runs.
 */
export const lateResult = ({ call, answer }: { call: OpenCall; answer: Answer }): LateResult =>
  resultFor(call, cameOfIt(call, answer));

/** The result of an allowed call that a rule or a hook denies now. */
export const deniedResult = (call: OpenCall, reason = "The user dismissed this call."): LateResult =>
  resultFor(call, said(reason, true));

/** The result of an allowed call that cannot run any more. */
export const unrunResult = (call: OpenCall): LateResult => resultFor(call, said(DID_NOT_RUN, true));

interface Outcome {
  content: readonly ToolResultContent[];
  isError: boolean;
}

const said = (text: string, isError: boolean): Outcome => ({ content: [{ type: "text", text }], isError });

function resultFor({ use, thread }: OpenCall, { content, isError }: Outcome): LateResult {
  const made = `called ${use.name} with ${JSON.stringify(use.input)}`;
  const lost =
    thread === null
      ? `You ${made}, and the process died before it had kept the call. What came of it${isError ? ", an error" : ""}:`
      : `A subagent of yours ${made}, and waited for a person. The process ended meanwhile, and the subagent with it. What came of it:`;
  return {
    toolUseId: use.tandem.tool_use_id,
    content,
    isError,
    inWords: [{ type: "text", text: `[Tandem] ${lost}` }, ...content.map(asMessage)],
  };
}

function cameOfIt({ use }: OpenCall, answer: Answer): Outcome {
  if (answer.type !== "user.tool_confirmation") {
    const { content = [], is_error: isError } = answer;
    if (use.name !== QUESTION_TOOL || !use.tandem.approval) return { content, isError: isError ?? false };
    return isError ? said(refusal(content), true) : said(inWords(readAnswers(use.input, content)), false);
  }
  if (answer.result === "deny") return said(answer.deny_message ?? "The user denied this call.", true);
  const { approval } = use.tandem;
  if (approval?.kind === "plan") return said(approvedPlan(approval), false);
  return said(DID_NOT_RUN, true);
}

const approvedPlan = ({ plan }: ApprovalNote): string => `The user has approved your plan. Go ahead.\n\n${plan ?? ""}`;

/** For a call that was allowed and cannot run any more. */
export const DID_NOT_RUN = "The process ended before this call ran, and it cannot be run any more. It did not run.";

/** The result that a late answer gives a call of its own; undefined for a call that runs now. */
export function settledResult(call: OpenCall, answer: Answer): { text: string; isError: boolean } | undefined {
  if (answer.type !== "user.tool_confirmation") return undefined;
  const { approval } = call.use.tandem;
  if (answer.result === "deny") return { text: answer.deny_message ?? "The user denied this call.", isError: true };
  if (approval?.kind === "plan") return { text: approvedPlan(approval), isError: false };
  // A worker runs it, without a process here.
  if (isWorkerCall(call)) return undefined;
  // A subagent ends with its process.
  return call.thread === null ? undefined : { text: DID_NOT_RUN, isError: true };
}

/** The result of a call that another call with a new id replaces. */
export const replacedResult = (toolUseId: string): LateResult => ({
  toolUseId,
  ...said("The process ended before this call ran. The user has allowed it since. It runs now as a new call.", true),
  inWords: [],
});

const OUTCOMES = {
  worked:
    "The process died while this call was running. The user has checked: the call took effect. Its output is lost.",
  failed: "The process died while this call was running. The user has checked: the call did not take effect.",
} as const;

/** The result of a call whose outcome a person has reported. */
export function reportedResult({ use }: OpenCall, outcome: keyof typeof OUTCOMES): LateResult {
  const text = OUTCOMES[outcome];
  return {
    toolUseId: use.tandem.tool_use_id,
    content: [{ type: "text", text }],
    isError: outcome === "failed",
    inWords: [{ type: "text", text: `[Tandem] You called ${use.name} with ${JSON.stringify(use.input)}. ${text}` }],
  };
}

/** Content that a message cannot carry is sent as text. */
function asMessage(block: ToolResultContent): ModelContent {
  if (block.type === "text") return block;
  if (block.type === "image" && block.source.type !== "file") return { ...block, source: block.source };
  if (block.type === "document" && block.source.type !== "file") return { ...block, source: block.source };
  return { type: "text", text: JSON.stringify(block) };
}
