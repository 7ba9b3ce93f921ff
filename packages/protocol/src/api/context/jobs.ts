import { z } from "zod";
import { JOB_STATES } from "../../words.ts";
import type { EvalReport } from "./evals.ts";
import type { RunEvent } from "./run-event.ts";
import { typed } from "../typed.ts";
import { count, pageOf, pageQuery } from "../page.ts";

/** The parameters of each kind of job that the page shows. The server parses them when it starts the job. */
interface JobParams {
  scan: { connection: string };
  ingest: { sources?: string[]; files?: string[]; text?: string };
  evals: { files: string[]; proposal?: string };
  memory: { session: string } | { text: string };
  remember: { text: string };
}

interface JobProgress {
  stage: string | null;
  done: number;
  total: number | null;
  item: string | null;
  skipped: number;
  spent: { requests: number; cached: number; usd: number | null };
}

const outline = z
  .object({
    id: z.string(),
    kind: z.string(),
    params: z.unknown(),
    state: z.enum(JOB_STATES),
    progress: z.unknown(),
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string(), fix: z.string().optional() }).nullable(),
    cancel_requested: z.boolean(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
  })
  .meta({
    id: "Job",
    description:
      "Background work on the context. `partly`: it ended, and something was skipped. `interrupted`: no process works on it.",
  });
export type Job = {
  [Kind in keyof JobParams]: Omit<z.infer<typeof outline>, "kind" | "params" | "progress" | "result"> & {
    kind: Kind;
    params: JobParams[Kind];
    progress: JobProgress | null;
    /** Null until it has ended with one. */
    result: (Kind extends "evals" ? EvalReport : Record<string, unknown>) | null;
  };
}[keyof JobParams];
const job = typed<Job>()(outline);

const jobEvent = z
  .object({ seq: z.int(), at: z.string(), event: typed<RunEvent>()(z.looseObject({ type: z.string() })) })
  .meta({ id: "JobEvent" });
export type JobEvent = z.infer<typeof jobEvent>;

const jobPlan = z
  .object({
    requests: z.int().meta({ description: "Model requests, estimated. Cached answers are not requested again." }),
    usd: z.number().nullable().meta({ description: "Estimate at list price; null if a model's price is unknown." }),
    has_model: z.boolean().meta({ description: "False: the job reads and stores, but asks no model." }),
    reads: z.record(z.string(), z.int()).meta({ description: "Numbers of tables, documents and so on, by name." }),
    skipped: z.array(z.object({ item: z.string(), message: z.string() })).meta({ description: "The first 20." }),
  })
  .meta({
    id: "JobPlan",
    description: "The estimated reads and cost of a job. Nothing is written and no model is called.",
  });
export type JobPlan = z.infer<typeof jobPlan>;

export const jobsApi = {
  "jobs.list": {
    query: z.strictObject({
      ...pageQuery,
      kind: z.string().min(1).optional(),
      states: z.array(z.enum(JOB_STATES)).optional(),
    }),
    response: pageOf(job),
  },
  "jobs.create": {
    body: z
      .strictObject({ kind: z.string().min(1), params: z.record(z.string(), z.unknown()).default({}) })
      .meta({ id: "CreateJob" }),
    response: job,
  },
  "jobs.plan": {
    body: z
      .strictObject({
        kind: z.enum(["scan", "ingest", "evals"]),
        params: z.record(z.string(), z.unknown()).default({}),
      })
      .meta({ id: "PlanJob" }),
    response: jobPlan,
  },
  "jobs.retrieve": { response: job },
  "jobs.cancel": { response: job },
  "jobs.events.list": {
    query: z.strictObject({
      limit: count().min(1).max(1_000).default(100),
      page: z
        .string()
        .regex(/^\d{1,15}$/, "expected the `next_page` of an earlier answer")
        .optional(),
    }),
    response: pageOf(jobEvent),
  },
  "jobs.events.stream": { frame: jobEvent },
};
