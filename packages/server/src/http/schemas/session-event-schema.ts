import type { FeedItem } from "@tandem/sessions";
import type { CutShort, Delta, SessionEvent, SessionEventType } from "@tandem/protocol";
import { SESSION_STATUSES, usageSnapshot } from "@tandem/protocol";
import { z } from "zod";

/** Every type of event, so that none can be forgotten; what each holds is in Anthropic's documentation and in ours. */
const EVENT_TYPES = Object.keys({
  "user.message": true,
  "user.interrupt": true,
  "user.tool_confirmation": true,
  "user.custom_tool_result": true,
  "agent.message": true,
  "agent.thinking": true,
  "agent.tool_use": true,
  "agent.tool_result": true,
  "agent.mcp_tool_use": true,
  "agent.mcp_tool_result": true,
  "agent.custom_tool_use": true,
  "agent.thread_context_compacted": true,
  "agent.thread_message_sent": true,
  "agent.thread_message_received": true,
  "session.status_running": true,
  "session.status_idle": true,
  "session.status_rescheduled": true,
  "session.status_terminated": true,
  "session.error": true,
  "session.updated": true,
  "session.usage": true,
  "session.deleted": true,
  "session.thread_created": true,
  "session.thread_status_running": true,
  "session.thread_status_idle": true,
  "session.thread_status_terminated": true,
  "span.model_request_start": true,
  "span.model_request_end": true,
  "tandem.init": true,
  "tandem.thinking": true,
  "tandem.thinking_redacted": true,
  "tandem.todo": true,
  "tandem.background": true,
  "tandem.compaction": true,
  "tandem.retry": true,
  "tandem.rate_limit": true,
  "tandem.model_fallback": true,
  "tandem.permission_denied": true,
  "tandem.mcp_status": true,
  "tandem.dropped": true,
  "tandem.output": true,
  "tandem.recovered": true,
  "tandem.usage_mismatch": true,
  "tandem.approval_resolved": true,
  "tandem.checkpoint": true,
  "tandem.rewound": true,
  "tandem.forked": true,
  "tandem.imported": true,
  "tandem.budget": true,
  "tandem.parked": true,
  "tandem.unplaced": true,
  "tandem.placed": true,
  "tandem.handover": true,
  "tandem.mode": true,
  "tandem.model": true,
  "tandem.hook": true,
  "tandem.command": true,
  "tandem.shell": true,
  "tandem.notice": true,
  "tandem.unknown": true,
} satisfies Record<SessionEventType, true>) as [SessionEventType, ...SessionEventType[]];

export const eventType = z.enum(EVENT_TYPES).meta({ id: "SessionEventType" });

// The types of events are TypeScript's (they are made by us, not read), so these schemas say less than their types do.
export const sessionEvent = z
  .looseObject({ type: eventType, id: z.string(), processed_at: z.string().nullable() })
  .meta({
    id: "SessionEvent",
    description:
      "An event of a session's log. `processed_at` is null while what a client sent waits for its turn. Types that begin with `tandem.` and the key `tandem` are Tandem's own.",
  }) as unknown as z.ZodType<SessionEvent>;

const delta = z
  .looseObject({
    type: z.enum([
      "event_start",
      "event_delta",
      "tandem.thinking_delta",
      "tandem.tool_input_start",
      "tandem.tool_input_delta",
      "tandem.tool_progress",
    ] satisfies Delta["type"][]),
  })
  .meta({ id: "Delta", description: "A live preview of an event that is being produced. Never stored." });

const resync = z
  .object({ type: z.literal("tandem.resync"), last_event_id: z.string() })
  .meta({ id: "Resync", description: "The client was too slow and is let go; it goes on after this event." });

const feedSession = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    status: z.enum(SESSION_STATUSES),
    agent: z.object({ id: z.string(), name: z.string() }),
    environment_id: z.string(),
    folder: z.string(),
    waiting_for: z.array(
      z.object({ event_id: z.string(), type: z.enum(["tool_confirmation", "custom_tool_result"]), name: z.string() }),
    ),
    list_cost: usageSnapshot.shape.list_cost,
    cut_short: z
      .enum(["retries_exhausted", "budget_reached", "refusal"] satisfies CutShort[])
      .nullable()
      .describe("Why its last turn came to no good end, where it did not."),
    parked: z.object({ resets_at: z.string(), kind: z.string() }).nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "FeedSession" });

export const feedItem: z.ZodType<FeedItem> = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("snapshot"), sessions: z.array(feedSession) }),
    z.object({ type: z.literal("changed"), session: feedSession }),
    z.object({ type: z.literal("removed"), id: z.string() }),
  ])
  .meta({ id: "FeedItem" });

/** The data of a frame of a session's stream. */
export const streamFrame = z.union([sessionEvent, delta, resync]);
