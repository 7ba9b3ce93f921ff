import { randomUUID } from "node:crypto";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";

/**
 * A message as Claude Code would send it, with the fields that the translator reads. The SDK's types name about ten times as
 * many; the recordings in `translate/recordings` have whole ones.
 */
export const sdkMessage = (session: string, message: { type: string } & Record<string, unknown>): SDKMessage =>
  ({ parent_tool_use_id: null, ...message, uuid: randomUUID(), session_id: session }) as unknown as SDKMessage;
