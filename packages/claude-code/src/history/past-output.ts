import type { EventId, UserContent } from "@tandem/protocol";
import type { ConversationOutput } from "../session/conversation.ts";

/** What comes of a line that Claude Code wrote for itself or for others, and when that was. */
export interface PastOutput {
  /** Undefined where the line does not say. */
  at: string | undefined;
  output: ConversationOutput | Prompt;
}

/** Somebody spoke to the model. `uuid` is the name of the line, where it has one. */
interface Prompt {
  type: "prompt";
  id: EventId;
  uuid: string | undefined;
  content: UserContent[];
}
