import type {
  ContentBlock,
  ContentChunk,
  SessionConfigOption,
  SessionUpdate,
  StateUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { Child, Patch, Piece, SessionState, ToolCallChange } from "../patch.ts";
import type { SessionSettings } from "../session-settings.ts";
import { gitPatch } from "./git-patch.ts";

/** One session has one list of things to do. */
const PLAN = "todo";

/** A patch in the words of version 2; undefined for what it has no words for. */
export function updateOf(patch: Patch): SessionUpdate | undefined {
  switch (patch.type) {
    case "message":
      return chunkOf(patch.role, { messageId: patch.id, content: contentOf(patch.piece) });
    case "tool_call":
      return { sessionUpdate: "tool_call_update", ...toolCallOf(patch.id, patch.change, patch.child) };
    case "plan": {
      const entries = patch.entries.map(({ content, status }) => ({ content, status, priority: "medium" }));
      return { sessionUpdate: "plan_update", plan: { type: "items", planId: PLAN, entries } };
    }
    case "usage":
      return {
        ...{ sessionUpdate: "usage_update", used: patch.used, size: patch.size },
        cost: { amount: patch.usd, currency: "USD" },
      };
    case "notice": {
      const { severity, title, description } = patch;
      return { sessionUpdate: "notice", severity, title, ...(description !== undefined && { description }) };
    }
    case "compaction": {
      const { id, tokensBefore, tokensAfter } = patch;
      const after = tokensAfter === undefined ? "" : `, ${tokensAfter} after`;
      const text = `The conversation was replaced by a summary (${tokensBefore} tokens before${after}).`;
      const summary: ContentBlock[] = [{ type: "text", text }];
      return { sessionUpdate: "compaction_update", compactionId: id, status: "completed", summary };
    }
    case "info":
      return {
        ...{ sessionUpdate: "session_info_update", title: patch.title },
        ...(patch.at !== null && { updatedAt: patch.at }),
      };
    case "state":
      return { sessionUpdate: "state_update", ...stateOf(patch) };
    case "subagent":
      return undefined;
  }
}

function chunkOf(role: "user" | "agent" | "thought", chunk: ContentChunk): SessionUpdate {
  switch (role) {
    case "user":
      return { sessionUpdate: "user_message_chunk", ...chunk };
    case "agent":
      return { sessionUpdate: "agent_message_chunk", ...chunk };
    case "thought":
      return { sessionUpdate: "agent_thought_chunk", ...chunk };
  }
}

function stateOf(state: SessionState): StateUpdate {
  if (state.state !== "idle") return state.state === "running" ? { state: "running" } : { state: "requires_action" };
  if (state.stop === undefined) return { state: "idle" };
  if (state.stop === "error") return { state: "idle", stopReason: "error", ...(state.error && { error: state.error }) };
  return STOPPED[state.stop];
}

const STOPPED = {
  end_turn: { state: "idle", stopReason: "end_turn" },
  max_tokens: { state: "idle", stopReason: "max_tokens" },
  max_turn_requests: { state: "idle", stopReason: "max_turn_requests" },
  refusal: { state: "idle", stopReason: "refusal" },
  cancelled: { state: "idle", stopReason: "cancelled" },
} satisfies Record<Exclude<Extract<SessionState, { state: "idle" }>["stop"], "error" | undefined>, StateUpdate>;

export function toolCallOf(id: string, change: ToolCallChange, child: Child | undefined): ToolCallUpdate {
  const { name, title, kind, status, content, locations, input, output, elapsed, reason } = change;
  const tandem = {
    ...(elapsed !== undefined && { elapsedSeconds: elapsed }),
    ...(reason !== undefined && { reason }),
    ...(child && { threadId: child.thread }),
    ...(child?.agent != null && { agent: child.agent }),
    ...(child?.call !== undefined && { parentToolCallId: child.call }),
  };
  return {
    toolCallId: id,
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    ...(kind !== undefined && { kind }),
    // Here, what was interrupted has a word of its own.
    ...(status !== undefined && { status: reason === "interrupted" ? "cancelled" : status }),
    ...(content !== undefined && { content: content.map(toolContent) }),
    ...(locations !== undefined && { locations }),
    ...(input !== undefined && { rawInput: input }),
    ...(output !== undefined && { rawOutput: output }),
    ...(Object.keys(tandem).length > 0 && { _meta: { tandem } }),
  };
}

function toolContent(piece: Piece): ToolCallContent {
  if (piece.type !== "diff") return { type: "content", content: contentOf(piece) };
  const text = gitPatch(piece);
  const { path } = piece;
  return {
    type: "diff",
    changes: [piece.oldText === null ? { operation: "add", path } : { operation: "modify", path }],
    ...(text !== undefined && { patch: { format: "git_patch", text } }),
  };
}

export const configOptions = ({ mode, model, effort }: SessionSettings): SessionConfigOption[] =>
  [
    { id: "mode", name: "Mode", category: "mode", choice: mode },
    { id: "model", name: "Model", category: "model", choice: model },
    { id: "effort", name: "Effort", category: "thought_level", choice: effort },
  ].map(({ id, name, category, choice }) => ({
    ...{ type: "select", configId: id, name, category, currentValue: choice.current },
    options: choice.options.map(({ id: value, name: label, description }) => ({
      ...{ value, name: label },
      ...(description !== undefined && { description }),
    })),
  }));

const contentOf = (piece: Exclude<Piece, { type: "diff" }>): ContentBlock =>
  piece.type === "text"
    ? { type: "text", text: piece.text }
    : { type: "image", data: piece.data, mimeType: piece.mimeType };
