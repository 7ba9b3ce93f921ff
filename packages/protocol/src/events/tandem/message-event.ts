import { z } from "zod";
import { described, event, eventId } from "../event-schema.ts";

// Messages and commands of people, and notices for them.

export const tandemMessageEvents = {
  ...event("tandem.dropped", "A queued message will not be sent to the model.", {
    event_id: eventId,
    reason: z.string(),
  }),
  ...event("tandem.command", "A message was a slash command.", {
    message_id: eventId,
    name: z.string(),
    arguments: z.string(),
    source: z.string(),
    text: described("The expansion of the command.", z.string()),
  }),
  ...event(
    "tandem.shell",
    "A shell command that a person ran in the session's folder. Its output goes to the model with the next message.",
    {
      command: z.string(),
      exit_code: z.int().nullable(),
      output: z.string(),
      truncated: z.boolean(),
      by: z.string(),
    },
  ),
  ...event("tandem.notice", "A notice for people.", { level: z.enum(["info", "warning", "error"]), text: z.string() }),
  ...event("tandem.unknown", "A message of Claude Code that has no mapping.", {
    kind: z.string(),
    message: z.unknown(),
  }),
};
