import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { TranslatorInput } from "./translate/translator-input.ts";

/** Taps a conversation, to record what it translates. */
export interface Recording {
  onInput: (input: TranslatorInput) => void;
  /** Options that a session does not use, to provoke messages that it may get all the same. */
  options?: Partial<Options>;
  variables?: Record<string, string>;
}
