import { HeartbeatPreconditionFailed, type Work, type WorkHeartbeat } from "@tandem/protocol";
import { z } from "zod";

/** Claude's clients send this as the expected heartbeat before the first one. */
const NO_HEARTBEAT = "NO_HEARTBEAT";
/** A worker that has polled an item and has not acknowledged it after this time has probably died. */
export const RECLAIM_MS = 5_000;
const MAX_TTL_MS = 60 * 60_000;

const time = z.string().nullable();

/** An item of a self-hosted environment's queue, as it is stored. Times are in ISO format. */
export const workItem = z.object({
  id: z.string(),
  environment: z.string(),
  session: z.string(),
  state: z.enum(["queued", "starting", "active", "stopping", "stopped"]),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.string(),
  claimedAt: time,
  acknowledgedAt: time,
  startedAt: time,
  heartbeatAt: time,
  /** The heartbeat before the last one, so that a repeated request is recognised. */
  formerHeartbeat: time,
  ttlMs: z.number(),
  stopRequestedAt: time,
  stoppedAt: time,
  /** Ids of the tokens that were made for it; the last one is valid. */
  tokens: z.array(z.string()),
  /** The session needs a worker again when this item has stopped. */
  isNeeded: z.boolean(),
});
export type WorkItem = z.infer<typeof workItem>;

export const newWorkItem = (
  item: Pick<WorkItem, "id" | "environment" | "session" | "ttlMs">,
  now: number,
): WorkItem => ({
  ...item,
  state: "queued",
  metadata: {},
  createdAt: iso(now),
  claimedAt: null,
  acknowledgedAt: null,
  startedAt: null,
  heartbeatAt: null,
  formerHeartbeat: null,
  stopRequestedAt: null,
  stoppedAt: null,
  tokens: [],
  isNeeded: false,
});

export const iso = (ms: number): string => new Date(ms).toISOString();

export function workView(item: WorkItem, secret: string | null = null): Work {
  return {
    type: "work",
    id: item.id,
    environment_id: item.environment,
    data: { type: "session", id: item.session },
    state: item.state,
    secret,
    metadata: item.metadata,
    created_at: item.createdAt,
    acknowledged_at: item.acknowledgedAt,
    started_at: item.startedAt,
    latest_heartbeat_at: item.heartbeatAt,
    stop_requested_at: item.stopRequestedAt,
    stopped_at: item.stoppedAt,
  };
}

/** Whether the worker of a claimed item has missed its heartbeats. */
export function isExpired({ heartbeatAt, acknowledgedAt, ttlMs }: WorkItem, now: number): boolean {
  const last = heartbeatAt ?? acknowledgedAt;
  return last === null || now >= Date.parse(last) + ttlMs;
}

/** Whether a worker can take the item. */
export function isFree(item: WorkItem, now: number, reclaimMs = RECLAIM_MS): boolean {
  switch (item.state) {
    case "queued":
      return item.claimedAt === null || now >= Date.parse(item.claimedAt) + reclaimMs;
    case "starting":
    case "active":
      return isExpired(item, now);
    case "stopping":
    case "stopped":
      return false;
  }
}

/** The item after a worker has polled it. The token of a former worker is no longer valid. */
export const claimed = (item: WorkItem, token: string, now: number): WorkItem => ({
  ...item,
  state: "queued",
  claimedAt: iso(now),
  acknowledgedAt: null,
  startedAt: null,
  heartbeatAt: null,
  formerHeartbeat: null,
  tokens: [...item.tokens.slice(-1), token],
});

interface Beat {
  expected: string | undefined;
  ttlMs: number | undefined;
  /** The client repeats a request whose answer it may not have got. */
  isResumed: boolean;
}

/**
 * The item after a heartbeat. Throws if the worker expected another heartbeat than the last: another worker holds the item.
 * Returns the same item if it does not change.
 */
export function beaten(item: WorkItem, { expected, ttlMs, isResumed }: Beat, now: number): WorkItem {
  if (item.state === "stopped") return item;
  const last = item.heartbeatAt ?? NO_HEARTBEAT;
  const isCompared = item.state !== "stopping" && expected !== undefined;
  if (isCompared && isResumed && item.state === "active" && expected === item.formerHeartbeat) return item;
  if (item.state === "queued" || (isCompared && expected !== last)) throw lost(item);
  return {
    ...item,
    state: item.state === "stopping" ? "stopping" : "active",
    startedAt: item.startedAt ?? iso(now),
    // Each heartbeat is named by its time, so no two may have the same.
    heartbeatAt: iso(item.heartbeatAt === null ? now : Math.max(now, Date.parse(item.heartbeatAt) + 1)),
    formerHeartbeat: last,
    ttlMs: ttlMs === undefined ? item.ttlMs : Math.min(ttlMs, MAX_TTL_MS),
  };
}

const lost = ({ heartbeatAt, state, ttlMs }: WorkItem): HeartbeatPreconditionFailed =>
  new HeartbeatPreconditionFailed({
    last_heartbeat: heartbeatAt,
    lease_extended: false,
    state,
    ttl_seconds: ttlMs / 1_000,
  });

export const heartbeatView = (item: WorkItem, now: number): WorkHeartbeat => ({
  type: "work_heartbeat",
  last_heartbeat: item.heartbeatAt ?? iso(now),
  lease_extended: item.state !== "stopped",
  state: item.state,
  ttl_seconds: item.ttlMs / 1_000,
});
