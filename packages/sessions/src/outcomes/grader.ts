import type { TurnEnd } from "@tandem/claude-code";
import type { EventOf, SessionErrorDetail } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import type { DefinedOutcome } from "../log/outcome-state.ts";

/** One evaluation of an outcome. */
export interface GradingTask {
  row: SessionRow;
  outcome: DefinedOutcome;
}

/** A model request of a grader. */
export type GraderRequest = Pick<EventOf<"span.model_request_end">, "model_usage" | "tandem">;

export interface GradingControl {
  /** Ends the evaluation without a verdict. */
  signal: AbortSignal;
  /** The next request is about to be sent, or the answer to one has arrived. */
  onRequestStart: () => void;
  onRequestEnd: (request: GraderRequest) => void;
  /** The answer calls a tool, so another request follows. */
  onToolUse: () => void;
  /** The process of the grader, so that it can be suspended. */
  onProcess: (process: { pause(): void; unpause(): void }) => void;
}

export interface Grade {
  result: "satisfied" | "needs_revision" | "failed";
  explanation: string;
  /** Usage as Claude Code reports it. */
  reported: TurnEnd["reported"];
}

/**
 * Evaluates an outcome. A grader that crashes or gives no verdict is run a second time, then its verdict is `failed`. Rejects
 * if it was cancelled, or with `GraderUnavailable`.
 */
export type GradeOutcome = (task: GradingTask, control: GradingControl) => Promise<Grade>;

/** No grader could work, for a reason that says nothing about the outcome: a quota, a login, an overloaded model. */
export class GraderUnavailable extends Error {
  readonly detail: SessionErrorDetail;

  constructor(detail: SessionErrorDetail) {
    super(detail.message);
    this.detail = { ...detail, message: `The outcome could not be evaluated: ${detail.message}` };
  }
}
