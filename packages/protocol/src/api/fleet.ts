import { z } from "zod";
import { listOf } from "./page.ts";

// What a fleet is doing, for whoever runs it. A single process is a fleet of one.

export const fleetWorker = z
  .object({
    id: z.string(),
    /** In the words of its leases. */
    name: z.string(),
    role: z.enum(["all", "server", "worker"]),
    /** `draining`: takes nothing new, and what it has goes to others. `gone`: not heard of any more. */
    state: z.enum(["live", "draining", "gone"]),
    machine: z.string(),
    labels: z.record(z.string(), z.string()),
    /** Whose sessions it takes; null for everybody's. */
    tenants: z.array(z.string()).nullable(),
    address: z.string().nullable(),
    version: z.string(),
    sessions: z.int(),
    /** Null where nothing limits them. */
    max_sessions: z.int().nullable(),
    /** Who pays for its turns, in a word; never a credential. */
    payer: z.string().nullable(),
    started_at: z.string(),
    silent_ms: z.number(),
    /** Turns that ended there per minute, over the last minutes. */
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
    /** Whether a worker lives that can take what waits. */
    served: z.boolean(),
  })
  .meta({ id: "FleetQueue" });
export type FleetQueue = z.infer<typeof fleetQueue>;

export const fleetLimit = z
  .object({
    /** Kind and hash; no secret can be had from it. */
    account: z.string(),
    kind: z.string(),
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
      /** Sessions whose holder has died and that nobody has taken up yet. */
      abandoned: z.int(),
    }),
    /** Quotas that are used up; whoever is on the account waits for the reset. */
    limits: z.array(fleetLimit),
    throughput: z.object({
      /** Turns that ended, over the last five minutes. */
      turns_per_minute: z.number(),
      /** Of each of the last ten minutes, the present one last. */
      minutes: z.array(z.int()),
    }),
    /** Runs that were given up. */
    dead: z.int(),
  })
  .meta({ id: "FleetStatus" });
export type FleetStatus = z.infer<typeof fleetStatus>;

/** A run that was given up after its last attempt. Its session waits until somebody sends it again. */
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
  "fleet.retrieve": {
    response: fleetStatus,
  },
  "fleet.dead.list": {
    response: listOf(deadLetter),
  },
  "fleet.dead.requeue": {
    response: z.object({ type: z.literal("run_requeued"), key: z.string() }),
  },
  "fleet.workers.drain": {
    response: fleetWorker,
  },
  "fleet.previews.stream": {
    frame: z.object({ after: z.int(), deltas: z.array(z.looseObject({})) }).meta({ id: "FleetPreviews" }),
  },
  "fleet.sends.settled": {
    response: z.object({ begun: z.number().nullable() }),
  },
};
