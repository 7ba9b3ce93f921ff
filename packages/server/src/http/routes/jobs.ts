import { RequestError } from "@tandem/protocol";
import { JOB_STATES, type JobEvent, type JobRow } from "@tandem/storage";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { jsonRoute, streamRoute, type Call, type Route } from "../route.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";
import { writeJobEvents } from "../sse/job-stream.ts";

const job = z
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
      "Background work on the context. `partly`: it ended, and something was skipped. `interrupted`: nobody works on it.",
  });

const jobEvent = z
  .object({ seq: z.int(), at: z.string(), event: z.looseObject({ type: z.string() }) })
  .meta({ id: "JobEvent" });

/** Scans and whatever else works in the background. */
export const jobRoutes: Route[] = [
  jsonRoute({
    name: "jobs.list",
    method: "GET",
    path: "/v1/jobs",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List jobs, the newest first",
    query: z.strictObject({
      ...pageQuery,
      kind: z.string().min(1).optional(),
      states: z.array(z.enum(JOB_STATES)).optional(),
    }),
    response: pageOf(job),
    handle: async (call) => {
      const { context, jobs } = contextOf(call);
      const { limit, page: cursor, kind, states } = call.query;
      const { data, next } = await jobs.list({ space: context.id, limit, cursor, kind, states });
      return { data: data.map(describe), next_page: next };
    },
  }),
  jsonRoute({
    name: "jobs.create",
    method: "POST",
    path: "/v1/jobs",
    scope: "run",
    at: "worker",
    extension: true,
    summary: "Start a job; it goes on by itself",
    body: z
      .strictObject({ kind: z.string().min(1), params: z.record(z.string(), z.unknown()).default({}) })
      .meta({ id: "CreateJob" }),
    response: job,
    handle: async (call) => describe(await contextOf(call).desk.start(call.body.kind, call.body.params)),
  }),
  jsonRoute({
    name: "jobs.retrieve",
    method: "GET",
    path: "/v1/jobs/:job_id",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Retrieve a job",
    response: job,
    handle: async (call) => describe(await find(call)),
  }),
  jsonRoute({
    name: "jobs.cancel",
    method: "POST",
    path: "/v1/jobs/:job_id/cancel",
    scope: "run",
    at: "context",
    extension: true,
    summary:
      "Cancel a job; whoever works on it stops within a second or so, and one whose holder has died ends with its lease",
    response: job,
    handle: async (call) => describe(await contextOf(call).desk.cancel((await find(call)).id)),
  }),
  jsonRoute({
    name: "jobs.events.list",
    method: "GET",
    path: "/v1/jobs/:job_id/events",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List what a job has said, oldest first",
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
      page: z
        .string()
        .regex(/^\d{1,15}$/, "expected the `next_page` of an earlier answer")
        .optional(),
    }),
    response: pageOf(jobEvent),
    handle: async (call) => {
      const { id } = await find(call);
      const { limit, page = "0" } = call.query;
      const found = await contextOf(call).jobs.events(id, { after: Number(page), limit: limit + 1 });
      const data: JobEvent[] = found.slice(0, limit);
      return { data, next_page: found.length > limit ? String(data.at(-1)!.seq) : null };
    },
  }),
  streamRoute({
    name: "jobs.events.stream",
    method: "GET",
    path: "/v1/jobs/:job_id/events/stream",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Stream what a job says, from its beginning or after `Last-Event-ID`, until it has ended",
    frame: jobEvent,
    handle: async (call, { open }) => {
      const { id } = await find(call);
      const after = readLastEventId(call.header("last-event-id"));
      const stream = open();
      await writeJobEvents(contextOf(call).jobs.follow(id, after, stream.closed), stream);
    },
  }),
];

/** Jobs of other contexts are as unknown as those that never were. */
async function find(call: Pick<Call<{ job_id: string }>, "context" | "params">): Promise<JobRow> {
  const { context, jobs } = contextOf(call);
  const row = await jobs.get(call.params.job_id);
  if (row?.space === context.id) return row;
  throw new RequestError("not_found", `There is no job ${call.params.job_id}.`);
}

function describe(row: JobRow): z.input<typeof job> {
  const { id, kind, params, state, progress, result, error } = row;
  return {
    ...{ id, kind, params, state, progress, result, error },
    cancel_requested: row.cancelRequested,
    created_at: row.createdAt,
    started_at: row.startedAt,
    ended_at: row.endedAt,
  };
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RequestError("invalid_request", "Last-Event-ID: this is not the id of an event of this stream.");
}
