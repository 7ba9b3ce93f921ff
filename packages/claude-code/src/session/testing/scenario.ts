import type { Permission } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import type { ConversationOutput } from "../conversation.ts";
import type { Recording } from "../translate/translator-input.ts";
import type { OpenSession, Overrides } from "./open-session.ts";

/** Something that Claude Code can go through: what the model says, what the session has, and what its user does. */
export interface Scenario {
  script: Script;
  setup?: Overrides;
  /** What the policy says, by the tool's name; what is not here is allowed. */
  decisions?: Record<string, Permission>;
  /** What no session asks for, to provoke messages that it may get all the same. */
  beyond?: Omit<Recording, "onInput">;
  /** Before the process starts. */
  prepare?: (folder: string) => void;
  /** One turn with the message "Go." unless it says otherwise. */
  drive?: (session: OpenSession) => Promise<unknown>;
}

export const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });

export const isEvent = (type: string) => (output: ConversationOutput) =>
  output.type === "event" && output.event.type === type;
