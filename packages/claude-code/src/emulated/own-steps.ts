import type { ModelAnswer } from "./ask-model.ts";
import type { ModelBlock } from "./stream-model.ts";

interface Compaction {
  trigger: "manual" | "auto";
  pre_tokens: number;
  post_tokens?: number;
}

/**
 * The next step at the end of a turn: the conversation waits; it continues because a background task ends, after the session was
 * idle (`resume`) or before (`continue`); or it gets another message.
 */
type NextStep = "rest" | "resume" | "continue" | "message";

/** Decisions that Claude Code takes by itself, as a recorded run has them. Without them, the conversation takes none. */
export interface OwnSteps {
  /** Whether the turn of this message asks the model. Claude Code answers some commands itself. */
  asksModel(content: readonly ModelBlock[]): boolean;
  /** The compaction that comes now, if one does: before a request, or before its answer. */
  compaction(when: "request" | "answer"): Compaction | undefined;
  /** Requests that the turn made besides, by the end of the turn. */
  unseenRequests(): Pick<ModelAnswer, "model" | "usage">[];
  /** The next step on the primary thread, at the end of a turn. */
  next(): NextStep;
}

export const NO_OWN_STEPS: OwnSteps = {
  asksModel: () => true,
  compaction: () => undefined,
  unseenRequests: () => [],
  next: () => "rest",
};

export type Tell = (message: { type: string } & Record<string, unknown>) => void;
