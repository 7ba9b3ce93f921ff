import type { TurnEnd } from "@tandem/claude-code";
import { errorDetail } from "../log/error-detail.ts";

/** The end of a turn that failed outside the model, for example because its process did not start. */
export function turnFailure(error: unknown): TurnEnd {
  return { stop: "error", stopDetails: null, error: errorDetail(error), reported: {} };
}

export const interruptedTurn = (): TurnEnd => ({ stop: "interrupted", stopDetails: null, reported: {} });
