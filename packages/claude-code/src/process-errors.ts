import { LlmError } from "@tandem/protocol";

export const aborted = (): LlmError => new LlmError("aborted", "The call was aborted.");

export const timedOut = (what: string, ms: number): LlmError =>
  new LlmError("timeout", `Claude Code did not ${what} within ${ms / 1_000} s.`);

export const busy = (): LlmError => new LlmError("process_died", "The Claude Code process was still busy.");

export const unchecked = (): LlmError =>
  new LlmError("isolation_breached", "Claude Code answered without saying what tools it came up with.");

export const notForgotten = (): LlmError =>
  new LlmError("isolation_breached", "Claude Code did not say that it has forgotten the conversation.");

export const asLlmError = (error: unknown): LlmError =>
  error instanceof LlmError
    ? error
    : new LlmError("process_died", error instanceof Error ? error.message : String(error), { cause: error });
