import { newId, QUESTION_TOOL, type EventId, type EventOf } from "@tandem/protocol";
import type { OpenCall } from "../log/open-turn.ts";
import type { Answer } from "./pending-calls.ts";
import { readAnswers } from "./questions.ts";

const AGAIN = "Run again";
const WORKED = "It worked";
const FAILED = "It failed";

type Question = EventOf<"agent.custom_tool_use">;

/** Asks a person for the outcome of a call whose process died while it ran. Tandem never repeats it by itself. */
export function outcomeQuestion({ use }: OpenCall): { id: EventId; body: Omit<Question, "id" | "processed_at"> } {
  const option = (label: string, description: string) => ({ label, description });
  return {
    id: newId("event"),
    body: {
      type: "agent.custom_tool_use",
      name: QUESTION_TOOL,
      input: {
        questions: [
          {
            question: `The process died while ${use.name} was running: ${JSON.stringify(use.input)}. Did the call take effect?`,
            header: "Outcome",
            multiSelect: false,
            options: [
              option(AGAIN, "Start the same call once more."),
              option(WORKED, "The agent learns that the call took effect."),
              option(FAILED, "The agent learns that the call did not take effect."),
            ],
          },
        ],
      },
      tandem: {
        tool_use_id: use.tandem.tool_use_id,
        outcome_of: use.id,
        approval: { kind: "question", expires_at: null },
      },
    },
  };
}

export type KnownOutcome = "again" | "worked" | "failed";

/** The outcome that a person chose. An answer in other words is not taken for permission to run the call again. */
export function knownOutcome({ use }: OpenCall, answer: Answer): KnownOutcome {
  if (answer.type !== "user.custom_tool_result" || answer.is_error) return "failed";
  const [chosen] = Object.values(readAnswers(use.input, answer.content ?? []));
  if (chosen === AGAIN) return "again";
  return chosen === WORKED ? "worked" : "failed";
}
