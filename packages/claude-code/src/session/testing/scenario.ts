import type { Permission } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import type { ConversationOutput } from "../conversation.ts";
import type { Recording } from "../translate/translator-input.ts";
import type { OpenSession, Overrides } from "./open-session.ts";

/** A scripted session: the model's answers, the setup, and the user's actions. */
export interface Scenario {
  script: Script;
  setup?: Overrides;
  /** Policy decisions by tool name; the default is allow. */
  decisions?: Record<string, Permission>;
  /** Extra options that provoke messages which sessions may receive. */
  beyond?: Omit<Recording, "onInput">;
  /** Runs before the process starts. */
  prepare?: (folder: string) => void;
  /** Default: one turn with the message "Go.". */
  drive?: (session: OpenSession) => Promise<unknown>;
}

export const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });

export const isEvent = (type: string) => (output: ConversationOutput) =>
  output.type === "event" && output.event.type === type;
