import type { LateResult, ModelContent } from "@tandem/claude-code";
import { QUESTION_TOOL, type ToolResultContent } from "@tandem/protocol";
import { inWords, readAnswers, refusal } from "./questions.ts";
import type { OpenCall } from "../log/open-turn.ts";
import type { Answer } from "./pending-calls.ts";

/**
 * The text for the model about a call answered after its process had ended. A custom tool has its result, a question its
 * answers, a plan its approval. A confirmed call did not run; if allowed, the model must make it again.
 */
export function lateResult({ call, answer }: { call: OpenCall; answer: Answer }): LateResult {
  const { use, thread } = call;
  const { content, isError } = cameOfIt(call, answer);
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

function cameOfIt({ use }: OpenCall, answer: Answer): { content: readonly ToolResultContent[]; isError: boolean } {
  const said = (text: string, isError: boolean) => ({ content: [{ type: "text" as const, text }], isError });
  if (answer.type === "user.custom_tool_result") {
    const { content = [], is_error: isError } = answer;
    if (use.name !== QUESTION_TOOL || !use.tandem.approval) return { content, isError: isError ?? false };
    return isError ? said(refusal(content), true) : said(inWords(readAnswers(use.input, content)), false);
  }
  if (answer.result === "deny") return said(answer.deny_message ?? "The user denied this call.", true);
  const { approval } = use.tandem;
  if (approval?.kind === "plan")
    return said(`The user has approved your plan. Go ahead.\n\n${approval.plan ?? ""}`, false);
  const input = answer.tandem?.input;
  return said(
    "This call did not run, because the process was interrupted while it waited to be allowed. It has been allowed since: " +
      (input
        ? `make it again with the input that the user changed it to: ${JSON.stringify(input)}`
        : "make it again, unchanged."),
    true,
  );
}

/** The logged result of a call that only needed confirmation. */
export function unmade({ use }: OpenCall, answer: Answer): string {
  const isAllowed = answer.type === "user.tool_confirmation" && answer.result === "allow";
  if (!isAllowed) return "The process ended before this call ran. It was denied.";
  return use.tandem.approval?.kind === "plan"
    ? "The process ended before this was answered. The plan was approved, and is gone on with."
    : "The process ended before this call ran. It was allowed later, and is made again.";
}

/** Content that a message cannot carry is sent as text. */
function asMessage(block: ToolResultContent): ModelContent {
  if (block.type === "text") return block;
  if (block.type === "image" && block.source.type !== "file") return { ...block, source: block.source };
  if (block.type === "document" && block.source.type !== "file") return { ...block, source: block.source };
  return { type: "text", text: JSON.stringify(block) };
}
