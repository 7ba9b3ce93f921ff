import type { Options, SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { LlmError } from "@tandem/protocol";
import type { McpState } from "./incidents.ts";
import type { Reported } from "./reported-usage.ts";
import type { KnownThread } from "./threads.ts";

/** What an earlier process of the same conversation left: subagents, and totals that the next result goes on from. */
export interface Past {
  threads: readonly KnownThread[];
  totals: Reported;
}

export type TranslatorInput =
  | { type: "message"; message: SDKMessage }
  /** Before the first message of a conversation that is taken up again. */
  | ({ type: "past" } & Past)
  /** A line that Claude Code has added to the transcript of a subagent. */
  | { type: "transcript"; line: unknown }
  /** The states of the MCP servers, with the reasons of those that failed. */
  | { type: "mcp_status"; servers: readonly McpState[] }
  /** We have asked Claude Code to end the turn; what it says of calls from now on is not the user's refusal. */
  | { type: "interrupting" }
  /** No more messages will come. A turn that was under way, or waited for, ends with the error. */
  | { type: "ended"; error: LlmError | undefined; turnExpected: boolean };

/** Taps a conversation, to record what it translates. */
export interface Recording {
  onInput: (input: TranslatorInput) => void;
  /** Options that a session does not use, to provoke messages that it may get all the same. */
  options?: Partial<Options>;
  variables?: Record<string, string>;
}
