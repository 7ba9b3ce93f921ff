import { z } from "zod";

export const runEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("started"), kind: z.string(), resumed: z.boolean() }),
    z.object({ type: z.literal("stage_started"), stage: z.string(), total: z.int().nullable() }),
    z.object({
      type: z.literal("stage_progress"),
      stage: z.string(),
      done: z.int().meta({ description: "Only the latest event of a stage counts." }),
      total: z.int().nullable(),
      item: z.string().nullable(),
    }),
    z.object({ type: z.literal("stage_finished"), stage: z.string(), counts: z.record(z.string(), z.number()) }),
    z.object({
      type: z.literal("skipped"),
      stage: z.string(),
      item: z.string().meta({ description: "The job continues without it and ends as `partly`." }),
      code: z.string(),
      message: z.string(),
    }),
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
      outcome: z.enum(["done", "budget", "partly", "failed"]).meta({
        description: "`partly`: its work is kept, and some of its tool calls failed; each is also a `skipped`.",
      }),
      message: z.string().nullable(),
    }),
    z.object({ type: z.literal("waiting"), reason: z.string(), until: z.string().nullable() }),
    z.object({ type: z.literal("spent"), requests: z.int(), cached: z.int(), usd: z.number().nullable() }),
    z.object({ type: z.literal("proposed"), proposal: z.string(), accepted: z.int(), open: z.int() }),
    z.object({ type: z.literal("ended"), state: z.string(), message: z.string().nullable() }),
  ])
  .meta({ id: "RunEvent", description: "Progress of a job; stored in its log and streamed." });
export type RunEvent = z.output<typeof runEvent>;
