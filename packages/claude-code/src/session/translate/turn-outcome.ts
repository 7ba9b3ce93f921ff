import type { SDKModelRefusalNoFallbackMessage, SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import {
  LlmError,
  type LlmErrorCode,
  type SessionErrorDetail,
  type SessionErrorType,
  type StopDetails,
} from "@tandem/protocol";
import { turnError } from "../../turn-error.ts";
import type { TurnEnd } from "../conversation.ts";

type Outcome = Omit<TurnEnd, "reported">;

/** Hints about a turn's end from messages before its result. */
export interface Hints {
  /** Claude Code's reason why the last answer failed. */
  assistantError: string | undefined;
  /** When the exhausted quota resets. */
  resetsAt: Date | undefined;
  refusal: SDKModelRefusalNoFallbackMessage | undefined;
  /** We requested the interrupt. */
  interrupting: boolean;
}

/**
 * Classifies the end of a turn. No single field is reliable: a `success` result can be an error or an interrupted turn.
 */
export function turnOutcome(result: SDKResultMessage, hints: Hints, outputExpected: boolean): Outcome {
  if (result.terminal_reason === "aborted_streaming" || result.terminal_reason === "aborted_tools") {
    return { stop: "interrupted", stopDetails: null };
  }
  if (hints.refusal || result.stop_reason === "refusal") {
    return { stop: "refusal", stopDetails: stopDetails(hints.refusal) };
  }
  if (result.subtype === "error_max_turns" || result.terminal_reason === "max_turns") {
    return { stop: "max_turns", stopDetails: null, error: TOO_MANY_STEPS };
  }
  if (result.subtype !== "success" || result.is_error) {
    if (hints.interrupting) return { stop: "interrupted", stopDetails: null };
    return failure(turnError(result, hints.assistantError, hints.resetsAt));
  }
  if (!outputExpected) return { stop: "end_turn", stopDetails: null };
  if (result.structured_output === undefined) {
    return failure(
      new LlmError("structured_output", "The model ended its turn without the object that was asked for."),
    );
  }
  return { stop: "end_turn", stopDetails: null, output: result.structured_output };
}

export function failure(error: LlmError): Outcome {
  return { stop: "error", stopDetails: null, error: errorDetail(error) };
}

const TOO_MANY_STEPS: SessionErrorDetail = {
  type: "tool_use_limit_reached_error",
  message: "The turn made as many model requests as it may.",
  retry_status: { type: "exhausted" },
  tandem: { code: "max_turns", fix: "Send another message to continue, or raise tandem.max_turns." },
};

const TYPES: Partial<Record<LlmErrorCode, SessionErrorType>> = {
  rate_limited: "model_rate_limited_error",
  overloaded: "model_overloaded_error",
  billing: "billing_error",
};

const errorDetail = ({ code, message, fix, resetsAt }: LlmError): SessionErrorDetail => ({
  type: TYPES[code] ?? "model_request_failed_error",
  message,
  retry_status: { type: "exhausted" },
  tandem: { code, ...(fix && { fix }), ...(resetsAt && { resets_at: resetsAt.toISOString() }) },
});

const CATEGORIES = ["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"] as const;

function stopDetails(refusal: SDKModelRefusalNoFallbackMessage | undefined): StopDetails {
  const category = CATEGORIES.find((name) => name === refusal?.api_refusal_category) ?? null;
  return { type: "refusal", category, explanation: refusal?.api_refusal_explanation ?? null };
}

export const noHints = (): Hints => ({
  assistantError: undefined,
  resetsAt: undefined,
  refusal: undefined,
  interrupting: false,
});
