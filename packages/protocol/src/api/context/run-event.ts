import { z } from "zod";

/** A job's progress events; stored in its log and streamed. */
export const runEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("started"), kind: z.string(), resumed: z.boolean() }),
  z.object({ type: z.literal("stage_started"), stage: z.string(), total: z.int().nullable() }),
  /** Only the latest of a stage counts. */
  z.object({
    type: z.literal("stage_progress"),
    stage: z.string(),
    done: z.int(),
    total: z.int().nullable(),
    item: z.string().nullable(),
  }),
  z.object({ type: z.literal("stage_finished"), stage: z.string(), counts: z.record(z.string(), z.number()) }),
  /** One item was skipped; the job continues and ends as `partly`. */
  z.object({ type: z.literal("skipped"), stage: z.string(), item: z.string(), code: z.string(), message: z.string() }),
  z.object({ type: z.literal("unit_started"), unit: z.string(), items: z.array(z.string()) }),
  z.object({
    type: z.literal("unit_step"),
    unit: z.string(),
    step: z.int(),
    budget: z.int(),
    tools: z.array(z.string()),
  }),
  z.object({
    type: z.literal("unit_finished"),
    unit: z.string(),
    /** `partly`: its work is kept, and some of its tool calls failed; each is also a `skipped`. */
    outcome: z.enum(["done", "budget", "partly", "failed"]),
    message: z.string().nullable(),
  }),
  z.object({ type: z.literal("waiting"), reason: z.string(), until: z.string().nullable() }),
  z.object({ type: z.literal("spent"), requests: z.int(), cached: z.int(), usd: z.number().nullable() }),
  z.object({ type: z.literal("proposed"), proposal: z.string(), accepted: z.int(), open: z.int() }),
  z.object({ type: z.literal("ended"), state: z.string(), message: z.string().nullable() }),
]);
export type RunEvent = z.output<typeof runEvent>;
