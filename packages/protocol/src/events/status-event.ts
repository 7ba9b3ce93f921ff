import { z } from "zod";
import { sessionAgent } from "../api/agents/agents.ts";
import { described, event, eventId, openObject, threadId, workflowRunId } from "./event-schema.ts";
import { sessionErrorDetail } from "./session-error.ts";
import { budget, usageSnapshot } from "./usage-snapshot.ts";
import { workflowLeaf } from "./workflow-event.ts";

// The states of a session and of its threads.

const stopReason = z
  .discriminatedUnion("type", [
    openObject({ type: z.literal("end_turn") }),
    openObject({ type: z.literal("requires_action"), event_ids: z.array(eventId) }),
    openObject({ type: z.literal("retries_exhausted") }),
    openObject({ type: z.literal("budget_reached") }),
    openObject({ type: z.literal("refusal") }),
  ])
  .meta({ id: "StopReason" });
export type StopReason = z.infer<typeof stopReason>;

/** Why a turn ended without completing. */
export type CutShort = Exclude<StopReason["type"], "end_turn" | "requires_action">;

const stopDetails = openObject({
  type: z.literal("refusal"),
  category: z.enum(["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]).nullable(),
  explanation: z.string().nullable(),
}).meta({ id: "StopDetails" });
export type StopDetails = z.infer<typeof stopDetails>;

const stopped = { stop_reason: stopReason, stop_details: stopDetails.nullable() };

const spent = z.record(z.string(), openObject({ ...usageSnapshot.shape, usd: z.number() }));
const usageNote = openObject({
  usd: z.number(),
  by_model: spent,
  by_thread: spent,
  requests: described("Model responses.", z.int().optional()),
  turns: described("Ended turns.", z.int().optional()),
  worked_ms: described("Active time without waits for people.", z.number().optional()),
}).meta({ id: "UsageNote", description: "Tandem's additions to the usage of a session." });
export type UsageNote = z.infer<typeof usageNote>;

const requested = openObject({
  by: described("The name of the token that requested it.", z.string()),
}).optional();

const thread = { session_thread_id: threadId, agent_name: z.string() };

export const statusEvents = {
  ...event("session.status_running", "A turn runs."),
  ...event("session.status_idle", "The turn has ended, or waits for a client.", stopped),
  ...event("session.status_rescheduled", "The turn continues after a transient error."),
  ...event("session.status_terminated", "The session has ended and cannot continue.", { tandem: requested }),
  ...event("session.error", "An error of the session.", { error: sessionErrorDetail }),
  ...event("session.updated", "A client changed the session. Fields that did not change are absent.", {
    agent: sessionAgent.optional(),
    budget: budget.nullish(),
    metadata: z.record(z.string(), z.string()).optional(),
    title: z.string().nullish(),
    tandem: requested,
  }),
  ...event("session.usage", "The usage of the session so far.", {
    usage: usageSnapshot,
    budget: budget.nullish(),
    tandem: usageNote.optional(),
  }),
  ...event("session.deleted", "The session was deleted."),
  ...event("session.thread_created", "A subagent's thread began.", {
    ...thread,
    workflow_run_id: workflowRunId.nullable(),
    tandem: openObject({ leaf: workflowLeaf }).optional(),
  }),
  ...event("session.thread_status_running", "The subagent works.", thread),
  ...event("session.thread_status_idle", "The subagent has stopped, or waits for a client.", {
    ...thread,
    ...stopped,
    tandem: described(
      "On an agent of a workflow run: why it failed, and its list price so far.",
      openObject({ error: z.string().optional(), usd: z.number().optional() }).optional(),
    ),
  }),
  ...event("session.thread_status_rescheduled", "The subagent continues after a transient error.", thread),
  ...event("session.thread_status_terminated", "The subagent has ended and cannot continue.", {
    ...thread,
    tandem: requested,
  }),
};
