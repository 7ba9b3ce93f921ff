import { z } from "zod";
import { textBlock, userContent } from "./content.ts";
import { described, event, openObject, threadId } from "./event-schema.ts";
import { interruption } from "./tool-event.ts";

export const agentEvents = {
  ...event("agent.message", "Text of the agent.", {
    content: z.array(textBlock),
    tandem: openObject({
      message_id: z.string(),
      interrupted: described("The text is partial: the turn was stopped or its process died.", interruption.optional()),
    }).optional(),
  }),
  ...event("agent.thinking", "The agent has thought. `tandem.thinking` has the text."),
  ...event("agent.thread_context_compacted", "The conversation was summarized to free context."),
  ...event("agent.thread_message_sent", "A message to another thread.", {
    to_session_thread_id: threadId,
    to_agent_name: z.string().nullish(),
    content: z.array(userContent),
  }),
  ...event("agent.thread_message_received", "A message from another thread.", {
    from_session_thread_id: threadId,
    from_agent_name: z.string().nullish(),
    content: z.array(userContent),
  }),
};
