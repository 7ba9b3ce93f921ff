import { z } from "zod";
import { JOB_STATES } from "../../words.ts";
import type { EvalReport } from "./evals.ts";
import {
  jobProgress,
  type CapturedMemories,
  type CapturedText,
  type IngestReport,
  type ScanResult,
} from "./job-results.ts";
import { runEvent } from "./run-event.ts";
import { typed } from "../typed.ts";
import { count, pageOf, pageQuery } from "../page.ts";

/** The parameters of each kind of job that the page shows. The server parses them when it starts the job. */
const jobParams = {
  scan: z.object({ connection: z.string() }),
  ingest: z.object({
    sources: z.array(z.string()).optional(),
    files: z.array(z.string()).optional(),
    text: z.string().optional(),
  }),
  evals: z.object({ files: z.array(z.string()), proposal: z.string().optional() }),
  memory: z.union([z.object({ session: z.string() }), z.object({ text: z.string() })]),
  remember: z.object({ text: z.string() }),
};
type JobKind = keyof typeof jobParams;
export type JobParams = { [Kind in JobKind]: z.infer<(typeof jobParams)[Kind]> };

/** The result of each kind of job. */
export interface JobResults {
  scan: ScanResult;
  ingest: IngestReport;
  evals: EvalReport;
  memory: CapturedMemories | CapturedText;
  remember: CapturedText;
}

const jobError = z.object({
  code: z.string(),
  message: z.string(),
  fix: z.string().optional(),
  missing_variables: z
    .array(z.string())
    .optional()
    .meta({ description: "Environment variables with secrets that the process of the job lacks." }),
});
export type JobError = z.infer<typeof jobError>;

const outline = z
  .object({
    id: z.string(),
    kind: z.string(),
    params: z.unknown(),
    state: z.enum(JOB_STATES),
    progress: jobProgress.nullable(),
    result: z.unknown(),
    error: jobError.nullable(),
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
  [Kind in JobKind]: Omit<z.infer<typeof outline>, "kind" | "params" | "result"> & {
    kind: Kind;
    params: JobParams[Kind];
    /** Null until it has ended with one. */
    result: JobResults[Kind] | null;
  };
}[JobKind];
const job = typed<Job>()(outline);

const jobEvent = z.object({ seq: z.int(), at: z.string(), event: runEvent }).meta({ id: "JobEvent" });
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
