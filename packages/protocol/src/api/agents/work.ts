import { z } from "zod";
import { metadataUpdate } from "./agents.ts";
import { count, deletedOf, listOf, pageOf, pageQuery } from "../page.ts";

// The work queue of a self-hosted environment: each item lets one worker run the tools of one session.

const WORK_STATES = ["queued", "starting", "active", "stopping", "stopped"] as const;
export type WorkState = (typeof WORK_STATES)[number];

const state = z.enum(WORK_STATES);

const work = z
  .object({
    type: z.literal("work"),
    id: z.string(),
    environment_id: z.string(),
    data: z.object({ type: z.literal("session"), id: z.string() }),
    state,
    secret: z
      .string()
      .nullable()
      .describe(
        "Only in the answer of poll: base64url of JSON with `sessions_token`, a token for this item's session.",
      ),
    metadata: z.record(z.string(), z.string()),
    created_at: z.string(),
    acknowledged_at: z.string().nullable(),
    started_at: z.string().nullable(),
    latest_heartbeat_at: z.string().nullable(),
    stop_requested_at: z.string().nullable(),
    stopped_at: z.string().nullable(),
  })
  .meta({ id: "Work" });
export type Work = z.infer<typeof work>;

const workHeartbeat = z
  .object({
    type: z.literal("work_heartbeat"),
    last_heartbeat: z.string(),
    lease_extended: z.boolean(),
    state,
    ttl_seconds: z.number(),
  })
  .meta({ id: "WorkHeartbeat" });
export type WorkHeartbeat = z.infer<typeof workHeartbeat>;

const workStats = z
  .object({
    type: z.literal("work_queue_stats"),
    depth: z.number().describe("Items that wait for a worker."),
    pending: z.number().describe("Items that a worker has polled and not acknowledged."),
    oldest_queued_at: z.string().nullable(),
    workers_polling: z
      .number()
      .describe("Workers that have polled with an `Anthropic-Worker-ID` in the last 30 seconds."),
  })
  .meta({ id: "WorkQueueStats" });
export type WorkStats = z.infer<typeof workStats>;

const environmentKey = z
  .object({
    type: z.literal("environment_key"),
    id: z.string(),
    environment_id: z.string(),
    name: z.string(),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
  })
  .meta({ id: "EnvironmentKey" });
export type EnvironmentKey = z.infer<typeof environmentKey>;

export const workApi = {
  "environments.work.poll": {
    query: z.strictObject({
      block_ms: count().min(1).max(999).optional(),
      reclaim_older_than_ms: count().min(0).optional(),
    }),
    response: work.nullable(),
  },
  "environments.work.ack": { response: work },
  "environments.work.heartbeat": {
    query: z.strictObject({
      expected_last_heartbeat: z.string().optional(),
      desired_ttl_seconds: count().min(1).optional(),
    }),
    response: workHeartbeat,
  },
  "environments.work.stop": {
    body: z.strictObject({ force: z.boolean().nullish() }).meta({ id: "StopWork" }),
    response: work,
  },
  "environments.work.list": { query: z.strictObject(pageQuery), response: pageOf(work) },
  "environments.work.retrieve": { response: work },
  "environments.work.update": {
    body: z.strictObject({ metadata: metadataUpdate }).meta({ id: "UpdateWork" }),
    response: work,
  },
  "environments.work.stats": { response: workStats },
  "environments.keys.list": { response: listOf(environmentKey) },
  "environments.keys.create": {
    body: z.strictObject({ name: z.string().trim().min(1).max(100).optional() }).meta({ id: "CreateEnvironmentKey" }),
    response: environmentKey.extend({ secret: z.string() }).meta({ id: "CreatedEnvironmentKey" }),
  },
  "environments.keys.delete": { response: deletedOf("environment_key_deleted") },
};
