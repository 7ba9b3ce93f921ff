import type { Options, SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { LlmError } from "@tandem/protocol";
import type { AllowedCall } from "../conversation.ts";
import type { UnloggedAnswer } from "../transcript/unlogged-answers.ts";
import type { McpState } from "./incidents.ts";
import type { Reported } from "./reported-usage.ts";
import type { KnownThread } from "./subagent-threads.ts";

/** State of an earlier process of the conversation: subagents, and the totals that the next result continues from. */
export interface Past {
  threads: readonly KnownThread[];
  totals: Reported;
}

/** The agent of a transcript, and Claude Code's id of its workflow run. */
export interface LeafPath {
  run: string;
  agent: string;
}

export type TranslatorInput =
  | { type: "message"; message: SDKMessage }
  /** Before the first message of a resumed conversation. */
  | ({ type: "past" } & Past)
  /** The process runs this call of an earlier one. */
  | { type: "adopted"; call: AllowedCall }
  /** An answer of an earlier process. */
  | { type: "unlogged"; answer: UnloggedAnswer }
  /** A new line in a subagent's transcript. `leaf` names the agent of a workflow run, which has no other messages. */
  | { type: "transcript"; line: unknown; leaf?: LeafPath }
  /** States of the MCP servers, with the reasons of failures. */
  | { type: "mcp_status"; servers: readonly McpState[] }
  /** We have requested an interrupt; from now on a "refused" result is not the user's refusal. */
  | { type: "interrupting" }
  /**
   * No more messages. A running or expected turn ends with the error. `keepsCalls`: the host closes the open calls, because it
   * knows which of them were only waiting.
   */
  | { type: "ended"; error: LlmError | undefined; turnExpected: boolean; keepsCalls?: boolean };

/** Hook for recording the translator's input. */
export interface Recording {
  onInput: (input: TranslatorInput) => void;
  /** Extra options that provoke messages which sessions may receive. */
  options?: Partial<Options>;
  variables?: Record<string, string>;
}
