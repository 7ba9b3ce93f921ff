import type { ConversationSetup } from "@tandem/claude-code";
import type { OpenCall } from "./open-turn.ts";
import type { Answer } from "./waiting-room.ts";

type LateResult = NonNullable<ConversationSetup["goOn"]>["results"][number];

/**
 * What a model is told of a call that was answered after the process that made it had gone. A custom tool has its result; a
 * call that was only to be confirmed did not run, and cannot run any more: allowed, it is to be made again.
 */
export function lateResult({ call: { use }, answer }: { call: OpenCall; answer: Answer }): LateResult {
  const toolUseId = use.tandem.tool_use_id;
  if (answer.type === "user.custom_tool_result") {
    return { toolUseId, content: answer.content ?? [], isError: answer.is_error ?? false };
  }
  const words =
    answer.result === "allow"
      ? "This call did not run, because the process was interrupted while it waited to be allowed. It has been allowed since: make it again, unchanged."
      : (answer.deny_message ?? "The user denied this call.");
  return { toolUseId, content: [{ type: "text", text: words }], isError: true };
}
