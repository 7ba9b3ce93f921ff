import { z } from "zod";
import { loggedEvent, sessionEvent } from "../../events/session-event.ts";
import { message } from "../../fold/message.ts";
import { count } from "../page.ts";

export const sessionLogApi = {
  "sessions.log.list": {
    query: z.strictObject({
      limit: count().min(1).max(2_000).default(500),
      before: count().min(1).optional().meta({ description: "Only those before this place." }),
      around: z
        .string()
        .optional()
        .meta({ description: "The id of an event: half of the page comes before it, the rest from it on." }),
      thread: z.string().optional().meta({ description: "A subagent's thread. Default: the primary one." }),
    }),
    response: z.object({
      data: z.array(loggedEvent).meta({ description: "Oldest first." }),
      waiting: z.array(sessionEvent).meta({ description: "Messages that no turn has taken yet." }),
      before: z.int().nullable().meta({ description: "For those before these; null where there are none." }),
      head: z
        .int()
        .meta({ description: "The place of the log's last event: a stream opened from there misses nothing." }),
    }),
  },
  "sessions.messages.list": {
    query: z.strictObject({
      limit: count().min(1).max(500).default(50),
      before: count().min(1).optional().meta({ description: "For what came earlier: the `before` of the answer." }),
      thread: z.string().optional().meta({ description: "A subagent's thread. Default: the primary one." }),
    }),
    response: z.object({
      data: z.array(message),
      before: z.int().nullable().meta({ description: "For the messages before these; null where there are none." }),
    }),
  },
};
