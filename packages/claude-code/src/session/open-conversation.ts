import { ClaudeConversation } from "./claude-conversation.ts";
import type { Conversation, ConversationHost, ConversationSetup, TranscriptStore } from "./conversation.ts";
import type { Recording } from "./translate/translator-input.ts";

/** Starts Claude Code for a conversation, new or taken up again. See the port for what it does and says. */
export function openConversation(
  setup: ConversationSetup,
  host: ConversationHost,
  transcripts: TranscriptStore,
  recording?: Recording,
): Conversation {
  return new ClaudeConversation(setup, host, transcripts, recording);
}
