import { createHash } from "node:crypto";
import type { EventOf, SessionEvent } from "@tandem/protocol";

type UserMessage = EventOf<"user.message">;

/** Events of a client that begin a turn. */
export type TurnInput = EventOf<"user.message" | "user.define_outcome">;

export const isTurnInput = (event: SessionEvent): event is TurnInput =>
  event.type === "user.message" || event.type === "user.define_outcome";

/** The types of events that begin a turn. */
export const PROMPT_TYPES = ["user.message", "user.define_outcome", "span.outcome_evaluation_end"];

/**
 * The message for the agent that an event stands for: a client's message, an outcome to work towards, or a verdict that needs
 * an answer. Undefined for all other events. It keeps the event's id, so that a crash neither loses nor repeats it.
 */
export function promptOf(event: SessionEvent): UserMessage | undefined {
  switch (event.type) {
    case "user.message":
      return event;
    case "user.define_outcome":
      return asMessage(event, outcomeText(event));
    case "span.outcome_evaluation_end": {
      const text = verdictText(event);
      return text === undefined ? undefined : asMessage(event, text);
    }
    default:
      return undefined;
  }
}

const asMessage = ({ id, processed_at }: SessionEvent, text: string): UserMessage => ({
  type: "user.message",
  id,
  processed_at,
  content: [{ type: "text", text }],
});

/** Names the element after its content, so that no text can close its own element. */
export function quoted(name: string, text: string): string {
  const tag = `${name}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}

function outcomeText({ description, rubric, max_iterations: max, tandem }: EventOf<"user.define_outcome">): string {
  const grader = tandem?.grader ? "a program" : "a separate grader that cannot see this conversation";
  const times = max === null ? "" : ` It is evaluated at most ${max} ${max === 1 ? "time" : "times"}.`;
  return [
    `[Tandem] The user has defined an outcome. Work on it until it meets the rubric. When you end your turn, ${grader} ` +
      `evaluates the files in your working folder against the rubric.${times} If it asks for a revision, you get its explanation.`,
    "What you should produce:",
    quoted("outcome", description),
    "The rubric:",
    quoted("rubric", rubric.type === "text" ? rubric.content : rubric.file_id),
  ].join("\n");
}

function verdictText({ result, explanation, iteration }: EventOf<"span.outcome_evaluation_end">): string | undefined {
  const number = `evaluation ${iteration + 1}`;
  if (result === "needs_revision") {
    return [
      `[Tandem] The outcome does not meet its rubric yet (${number}). The grader's explanation:`,
      quoted("explanation", explanation),
      "Revise your work accordingly. It is evaluated again when you end your turn.",
    ].join("\n");
  }
  if (result === "max_iterations_reached") {
    return [
      `[Tandem] The outcome does not meet its rubric, and ${number} was the last one. The grader's explanation:`,
      quoted("explanation", explanation),
      "Do not work on it further. Tell the user briefly what is done and what is missing.",
    ].join("\n");
  }
  return undefined;
}
