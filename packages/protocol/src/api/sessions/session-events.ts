import { z } from "zod";
import { clientEvent } from "../../events/client-event.ts";
import { typed } from "../typed.ts";
import type { Delta, SessionEvent, SessionEventType } from "../../events/session-event.ts";
import { createdBetween, listOf, order, pageOf, pageQuery } from "../page.ts";
import { PREVIEWS } from "./previews.ts";

/** Every event type; the compiler reports a missing one. Anthropic's documentation and ours describe their fields. */
const EVENT_TYPES = Object.keys({
  "user.message": true,
  "user.interrupt": true,
  "user.tool_confirmation": true,
  "user.custom_tool_result": true,
  "user.tool_result": true,
  "system.message": true,
  "user.define_outcome": true,
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
  "session.thread_status_rescheduled": true,
  "session.thread_status_terminated": true,
  "workflow_run.created": true,
  "workflow_run.status_running": true,
  "workflow_run.status_idle": true,
  "workflow_run.status_ended": true,
  "workflow_run.error": true,
  "workflow_run.phase_started": true,
  "workflow_run.phase_ended": true,
  "span.model_request_start": true,
  "span.model_request_end": true,
  "span.outcome_evaluation_start": true,
  "span.outcome_evaluation_ongoing": true,
  "span.outcome_evaluation_end": true,
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
  "tandem.tool_state": true,
  "tandem.checkpoint": true,
  "tandem.rewound": true,
  "tandem.forked": true,
  "tandem.imported": true,
  "tandem.budget": true,
  "tandem.parked": true,
  "tandem.process_wait": true,
  "tandem.unplaced": true,
  "tandem.placed": true,
  "tandem.handover": true,
  "tandem.mode": true,
  "tandem.model": true,
  "tandem.grader_request": true,
  "tandem.side_request": true,
  "tandem.hook": true,
  "tandem.command": true,
  "tandem.push": true,
  "tandem.shell": true,
  "tandem.resource": true,
  "tandem.file": true,
  "tandem.sandbox_violation": true,
  "tandem.diagnostics": true,
  "tandem.notice": true,
  "tandem.unknown": true,
} satisfies Record<SessionEventType, true>) as [SessionEventType, ...SessionEventType[]];

/** Whether a type is Tandem's own. Only clients that ask for such events and previews get them. */
export const isOwnType = (type: string): boolean => type.startsWith("tandem.");

/** The types that Anthropic's clients know. */
export const ANTHROPIC_EVENT_TYPES: readonly SessionEventType[] = EVENT_TYPES.filter((type) => !isOwnType(type));

const eventType = z.enum(EVENT_TYPES).meta({ id: "SessionEventType" });

export const sessionEvent = typed<SessionEvent>()(
  z.looseObject({ type: eventType, id: z.string(), processed_at: z.string().nullable() }).meta({
    id: "SessionEvent",
    description:
      "An event of a session's log. `processed_at` is null while what a client sent waits for its turn. Types that begin with `tandem.` and the key `tandem` are Tandem's own.",
  }),
);

const delta = typed<Delta>()(
  z
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
    .meta({ id: "Delta", description: "A live preview of an event that is being produced. Never stored." }),
);

const resync = z
  .object({ type: z.literal("tandem.resync"), last_event_id: z.string() })
  .meta({ id: "Resync", description: "The client was too slow and is disconnected; it resumes after this event." });

/** The data of a frame of a session's stream. */
export const streamFrame = z.union([sessionEvent, delta, resync]);
export type StreamFrame = z.infer<typeof streamFrame>;

/** The official clients do not know Tandem's events: their tool runner waits forever if one follows the end of a turn. */
export const ownEventsQuery = {
  tandem: z.enum(["true", "false"]).optional().meta({
    description:
      "`false` leaves out `tandem.` events unless `types` names them. The default is `true`, and `false` for the SDK's tool runner.",
  }),
};

export const streamQuery = z.strictObject({
  event_deltas: z
    .array(z.enum(PREVIEWS))
    .optional()
    .meta({ description: "Also send previews of events of these types while they are being produced." }),
  tandem: z.enum(["true", "false"]).default("false").meta({
    description: "Also send `tandem.` events, and previews of thinking and of tools' input.",
  }),
});

const sendParams = z
  .strictObject({
    events: z.array(clientEvent).min(1, "expected at least one event"),
  })
  .meta({ id: "SendEvents" });

export const sessionEventsApi = {
  "sessions.events.list": {
    query: z.strictObject({
      ...pageQuery,
      ...order,
      ...createdBetween,
      ...ownEventsQuery,
      types: z.array(eventType).optional(),
    }),
    response: pageOf(sessionEvent),
  },
  "sessions.events.send": { body: sendParams, response: listOf(sessionEvent) },
  "sessions.events.take_back": { response: z.object({ type: z.literal("event_taken_back"), id: z.string() }) },
  "sessions.events.stream": { query: streamQuery, frame: streamFrame },
};
