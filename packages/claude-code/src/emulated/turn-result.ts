import { causeOf, planLimitOf } from "./model-failure.ts";
import type { ModelFailure } from "./stream-model.ts";

type Message = { type: string } & Record<string, unknown>;

/** Claude Code's last message of a turn that went well. */
export const TURN_RESULT: Message = {
  type: "result",
  subtype: "success",
  is_error: false,
  result: "",
  stop_reason: null,
  terminal_reason: "completed",
};

/** The messages before the result of a turn whose request failed. */
export function failureMessages(failure: ModelFailure): Message[] {
  const limit = planLimitOf(failure);
  return [
    ...(limit ? [{ type: "rate_limit_event", rate_limit_info: limit }] : []),
    { type: "assistant", error: causeOf(failure), message: { content: [] } },
  ];
}

export const failureResult = (failure: ModelFailure): Record<string, unknown> => ({
  is_error: true,
  result: failure.status === null ? failure.message : `API Error: ${failure.status} ${failure.message}`,
  api_error_status: failure.status,
  terminal_reason: "api_error",
});
