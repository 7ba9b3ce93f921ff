import type { ContentBlock, SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk/unstable";
import type { ClientAbilities } from "./client-abilities.ts";
import type { Child, Patch, Piece, ToolCallChange } from "./patch.ts";

/** A patch as a `session/update`; undefined if the client would not understand it. */
export function sessionUpdate(
  patch: Exclude<Patch, { type: "tool_call" | "subagent" }>,
  abilities: ClientAbilities,
): SessionUpdate | undefined {
  switch (patch.type) {
    case "message":
      return { sessionUpdate: CHUNKS[patch.role], messageId: patch.id, content: contentOf(patch.piece) };
    case "plan":
      return {
        sessionUpdate: "plan",
        entries: patch.entries.map(({ content, status }) => ({ content, status, priority: "medium" })),
      };
    case "usage":
      return {
        sessionUpdate: "usage_update",
        used: patch.used,
        size: patch.size,
        cost: { amount: patch.usd, currency: "USD" },
      };
    case "notice": {
      if (!abilities.notices) return undefined;
      const { severity, title, description } = patch;
      return { sessionUpdate: "notice", severity, title, ...(description !== undefined && { description }) };
    }
    case "compaction": {
      const { id, tokensBefore, tokensAfter } = patch;
      const words = `The conversation was replaced by a summary (${tokensBefore} tokens before${
        tokensAfter === undefined ? "" : `, ${tokensAfter} after`
      }).`;
      if (abilities.compaction) {
        const summary: ContentBlock[] = [{ type: "text", text: words }];
        return { sessionUpdate: "compaction_update", compactionId: id, status: "completed", summary };
      }
      return abilities.notices ? { sessionUpdate: "notice", severity: "info", title: words } : undefined;
    }
    case "info":
      return {
        sessionUpdate: "session_info_update",
        title: patch.title,
        ...(patch.at !== null && { updatedAt: patch.at }),
      };
  }
}

const CHUNKS = { user: "user_message_chunk", agent: "agent_message_chunk", thought: "agent_thought_chunk" } as const;

/** The fields that `tool_call` and `tool_call_update` share; never null, because the first update may not be. */
type CallFields = { [Key in keyof ToolCallUpdate]?: NonNullable<ToolCallUpdate[Key]> };

export function toolCallFields(change: ToolCallChange): Omit<CallFields, "toolCallId"> {
  const { name, title, kind, status, content, locations, input, output } = change;
  return {
    ...(title !== undefined && { title }),
    ...(name !== undefined && { name }),
    ...(kind !== undefined && { kind }),
    ...(status !== undefined && { status }),
    ...(content !== undefined && { content: content.map(toolContent) }),
    ...(locations !== undefined && { locations }),
    ...(input !== undefined && { rawInput: input }),
    ...(output !== undefined && { rawOutput: output }),
  };
}

/** Facts that the protocol has no field for: the subagent, the elapsed seconds, the reason for a missing result. */
export function callMeta({ elapsed, reason }: ToolCallChange, child?: Child): { _meta?: Record<string, unknown> } {
  const tandem = {
    ...(elapsed !== undefined && { elapsedSeconds: elapsed }),
    ...(reason !== undefined && { reason }),
    ...(child && { threadId: child.thread }),
    ...(child?.agent != null && { agent: child.agent }),
    ...(child?.call !== undefined && { parentToolCallId: child.call }),
  };
  return Object.keys(tandem).length > 0 ? { _meta: { tandem } } : {};
}

function toolContent(piece: Piece): ToolCallContent {
  if (piece.type !== "diff") return { type: "content", content: contentOf(piece) };
  const { path, oldText, newText } = piece;
  return { type: "diff", path, oldText, newText };
}

const contentOf = (piece: Exclude<Piece, { type: "diff" }>): ContentBlock =>
  piece.type === "text"
    ? { type: "text", text: piece.text }
    : { type: "image", data: piece.data, mimeType: piece.mimeType };
