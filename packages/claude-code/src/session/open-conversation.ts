import { ClaudeConversation } from "./claude-conversation.ts";
import type { Conversation, ConversationHost, ConversationSetup, TranscriptStore } from "./conversation.ts";
import type { Recording } from "./translate/translator-input.ts";

/** Starts Claude Code for a new or resumed conversation; see `Conversation`. */
export function openConversation(
  setup: ConversationSetup,
  host: ConversationHost,
  transcripts: TranscriptStore,
  recording?: Recording,
): Conversation {
  return new ClaudeConversation(setup, host, transcripts, recording);
}
