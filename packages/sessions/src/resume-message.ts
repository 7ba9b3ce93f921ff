import type { ModelContent } from "@tandem/claude-code";
import type { OpenCall } from "./open-turn.ts";
import type { Answer } from "./waiting-room.ts";

const quote = (value: unknown): string => JSON.stringify(value);

/** What a model is told when it is taken up again after its process died in the middle of a turn. */
export const GO_ON: ModelContent[] = [
  {
    type: "text",
    text:
      "[Tandem] The process that carried this conversation died in the middle of the turn. Calls that were running then " +
      "may have had all, some or none of their effects: check before you repeat one. Go on with the task.",
  },
];

/** What a model is told of answers that came after the process that asked had gone. */
export function lateAnswers(kept: readonly { call: OpenCall; answer: Answer }[]): ModelContent[] {
  return kept.flatMap(({ call: { use }, answer }): ModelContent[] => {
    const call = `your call of the tool ${use.name} with the input ${quote(use.input)}`;
    if (answer.type === "user.custom_tool_result") {
      const outcome = answer.is_error ? "failed; this is the error" : "has its result";
      return [text(`[Tandem] After an interruption, ${call} ${outcome}:`), ...readable(answer)];
    }
    if (answer.result === "allow") {
      return [text(`[Tandem] After an interruption, ${call} was allowed. It has not run: make it again, unchanged.`)];
    }
    const reason = answer.deny_message ? `: ${answer.deny_message}` : ".";
    return [text(`[Tandem] After an interruption, ${call} was denied${reason}`)];
  });
}

const text = (words: string): ModelContent => ({ type: "text", text: words });

function readable(answer: Extract<Answer, { type: "user.custom_tool_result" }>): ModelContent[] {
  const content = (answer.content ?? []).map((block): ModelContent => {
    if (block.type === "search_result") return text(quote(block));
    return "source" in block && block.source.type === "file" ? text(quote(block)) : block;
  });
  return content.length > 0 ? content : [text("(nothing)")];
}
