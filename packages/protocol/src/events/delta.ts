import { z } from "zod";
import type { ThreadId } from "../ids.ts";
import { textBlock } from "./content.ts";
import { eventId, openObject } from "./event-schema.ts";

const of = { event_id: eventId };

/** Never stored, and without an id. `tandem.*` previews go only to clients that request them. */
export const delta = z
  .discriminatedUnion("type", [
    openObject({
      type: z.literal("event_start"),
      event: openObject({ type: z.enum(["agent.message", "agent.thinking"]), id: eventId }),
    }),
    openObject({
      type: z.literal("event_delta"),
      ...of,
      delta: openObject({ type: z.literal("content_delta"), index: z.int().optional(), content: textBlock }),
    }),
    openObject({ type: z.literal("tandem.thinking_delta"), ...of, text: z.string() }),
    openObject({ type: z.literal("tandem.tool_input_start"), ...of, name: z.string() }),
    openObject({ type: z.literal("tandem.tool_input_delta"), ...of, json: z.string() }),
    openObject({ type: z.literal("tandem.tool_progress"), ...of, elapsed_seconds: z.number() }),
  ])
  .meta({ id: "Delta", description: "A live preview of an event that is being produced. Never stored." });
export type Delta = z.infer<typeof delta>;

export interface LiveDelta {
  thread: ThreadId | null;
  delta: Delta;
}
