import type { LateResult, ModelContent } from "@tandem/claude-code";
import type { ToolResultContent } from "@tandem/protocol";
import type { OpenCall } from "./open-turn.ts";
import type { Answer } from "./waiting-room.ts";

/**
 * What a model is told of a call that was answered after the process that made it had gone. A custom tool has its result; a
 * call that was only to be confirmed did not run, and cannot run any more: allowed, it is to be made again.
 */
export function lateResult({ call: { use }, answer }: { call: OpenCall; answer: Answer }): LateResult {
  const told = (content: readonly ToolResultContent[], isError: boolean): LateResult => ({
    toolUseId: use.tandem.tool_use_id,
    content,
    isError,
    inWords: [
      {
        type: "text",
        text: `[Tandem] You called ${use.name} with ${JSON.stringify(use.input)}, and the process died before it had kept the call. What came of it${isError ? ", an error" : ""}:`,
      },
      ...content.map(asMessage),
    ],
  });
  if (answer.type === "user.custom_tool_result") return told(answer.content ?? [], answer.is_error ?? false);
  const words =
    answer.result === "allow"
      ? "This call did not run, because the process was interrupted while it waited to be allowed. It has been allowed since: make it again, unchanged."
      : (answer.deny_message ?? "The user denied this call.");
  return told([{ type: "text", text: words }], true);
}

/** What a message cannot hold, or not yet, is told as it was sent. */
function asMessage(block: ToolResultContent): ModelContent {
  if (block.type === "text") return block;
  if (block.type === "image" && block.source.type !== "file") return { ...block, source: block.source };
  if (block.type === "document" && block.source.type !== "file") return { ...block, source: block.source };
  return { type: "text", text: JSON.stringify(block) };
}
