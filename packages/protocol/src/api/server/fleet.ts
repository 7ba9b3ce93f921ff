import { z } from "zod";
import type { LiveDelta } from "../../events/delta.ts";
import { listOf } from "../page.ts";
import { typed } from "../typed.ts";

// The state of a fleet, for its operator. A single process is a fleet of one.

export const fleetWorker = z
  .object({
    id: z.string(),
    /** The holder name in its leases. */
    name: z.string(),
    role: z.enum(["all", "server", "worker"]),
    /** `draining`: takes no new sessions and hands its own over. `gone`: its heartbeat stopped. */
    state: z.enum(["live", "draining", "gone"]),
    machine: z.string(),
    /** Why it takes no work, such as a full disk; null if it does. */
    problem: z.string().nullish(),
    labels: z.record(z.string(), z.string()),
    /** The tenants whose sessions it runs; null for all. */
    tenants: z.array(z.string()).nullable(),
    address: z.string().nullable(),
    version: z.string(),
    sessions: z.int(),
    /** Null if unlimited. */
    max_sessions: z.int().nullable(),
    /** The kind of account that pays for its turns; never a credential. */
    payer: z.string().nullable(),
    started_at: z.string(),
    silent_ms: z.number(),
    /** Turns per minute that ended on it, over the last minutes. */
    turns_per_minute: z.number(),
  })
  .meta({ id: "FleetWorker" });
export type FleetWorker = z.infer<typeof fleetWorker>;

const fleetQueue = z
  .object({
    /** `machine:NAME`, `needs:LABEL=VALUE,…` or `any`. */
    place: z.string(),
    waiting: z.int(),
    running: z.int(),
    oldest_ms: z.number().nullable(),
    /** Whether a live worker can take the waiting runs. */
    served: z.boolean(),
  })
  .meta({ id: "FleetQueue" });
export type FleetQueue = z.infer<typeof fleetQueue>;

export const fleetLimit = z
  .object({
    /** The kind and a hash of the account; reveals no secret. */
    account: z.string(),
    kind: z.string(),
    /** The only model that is blocked; null if `kind` says which are. */
    model: z.string().nullable(),
    resets_at: z.string(),
    learned_at: z.string(),
    learned_by: z.string(),
  })
  .meta({ id: "FleetLimit" });
export type FleetLimit = z.infer<typeof fleetLimit>;

export const fleetStatus = z
  .object({
    type: z.literal("fleet_status"),
    at: z.string(),
    workers: z.array(fleetWorker),
    queue: z.array(fleetQueue),
    leases: z.object({
      held: z.int(),
      /** Sessions whose lease holder died and that no worker has taken over yet. */
      abandoned: z.int(),
    }),
    /** Exhausted quotas. Other accounts, and models that a quota does not name, are not blocked. */
    limits: z.array(fleetLimit),
    throughput: z.object({
      /** Turns that ended over the last five minutes. */
      turns_per_minute: z.number(),
      /** One count for each of the last ten minutes; the current minute is last. */
      minutes: z.array(z.int()),
    }),
    /** Runs in the dead letter queue. */
    dead: z.int(),
  })
  .meta({ id: "FleetStatus" });
export type FleetStatus = z.infer<typeof fleetStatus>;

/** A run that failed its last attempt. Its session waits until a person requeues it. */
export const deadLetter = z
  .object({
    key: z.string(),
    kind: z.enum(["session", "job"]),
    tenant: z.string(),
    place: z.string(),
    error: z.string(),
    attempts: z.int(),
    at: z.string(),
  })
  .meta({ id: "DeadLetter" });
export type DeadLetter = z.infer<typeof deadLetter>;

export const fleetApi = {
  "fleet.retrieve": { response: fleetStatus },
  "fleet.dead.list": { response: listOf(deadLetter) },
  "fleet.dead.requeue": { response: z.object({ type: z.literal("run_requeued"), key: z.string() }) },
  "fleet.workers.drain": { response: fleetWorker },
  "fleet.previews.stream": {
    frame: z
      .object({ after: z.int(), deltas: z.array(typed<LiveDelta>()(z.looseObject({}))) })
      .meta({ id: "FleetPreviews" }),
  },
  "fleet.sends.settled": { response: z.object({ begun: z.number().nullable() }) },
};
