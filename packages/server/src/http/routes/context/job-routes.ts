import { type Job, type JobEvent, RequestError } from "@tandem/protocol";
import type { JobRow } from "@tandem/storage";
import { contextOf } from "../../context-of.ts";
import { jsonRoute, streamRoute, type Call, type Route } from "../../route.ts";
import { writeJobEvents } from "../../sse/job-stream.ts";

/** Scans and other background jobs. */
export const jobRoutes: Route[] = [
  jsonRoute("jobs.list", {
    scope: "read",
    at: "context",
    summary: "List jobs, newest first",
    handle: async (call) => {
      const { context, jobs } = contextOf(call);
      const { limit, page: cursor, kind, states } = call.query;
      const { data, next } = await jobs.list({ space: context.id, limit, cursor, kind, states });
      return { data: data.map(describe), next_page: next };
    },
  }),
  jsonRoute("jobs.create", {
    scope: "run",
    at: "job",
    summary: "Start a job, which runs in the background",
    handle: async (call) => describe(await contextOf(call).jobRunner.start(call.body.kind, call.body.params)),
  }),
  jsonRoute("jobs.plan", {
    scope: "run",
    at: "context",
    longRunning: true,
    summary:
      "Estimate the reads and the cost of a scan, an ingest or a run of evals; no model is called and nothing is written",
    handle: (call) => contextOf(call).plan(call.body.kind, call.body.params, call.signal),
  }),
  jsonRoute("jobs.retrieve", {
    scope: "read",
    at: "context",
    summary: "Retrieve a job",
    handle: async (call) => describe(await find(call)),
  }),
  jsonRoute("jobs.cancel", {
    scope: "run",
    at: "context",
    summary:
      "Cancel a job. Its process stops within about a second; if the process is dead, the job ends when its lease expires",
    handle: async (call) => describe(await contextOf(call).jobRunner.cancel((await find(call)).id)),
  }),
  jsonRoute("jobs.events.list", {
    scope: "read",
    at: "context",
    summary: "List the output of a job, oldest first",
    handle: async (call) => {
      const { id } = await find(call);
      const { limit, page = "0" } = call.query;
      const found = await contextOf(call).jobs.events(id, { after: Number(page), limit: limit + 1 });
      // The store returns them as the job wrote them.
      const data = found.slice(0, limit) as JobEvent[];
      return { data, next_page: found.length > limit ? String(data.at(-1)!.seq) : null };
    },
  }),
  streamRoute("jobs.events.stream", {
    scope: "read",
    at: "context",
    summary: "Stream the output of a job, from its beginning or after `Last-Event-ID`, until it ends",
    handle: async (call, { open }) => {
      const { id } = await find(call);
      const after = readLastEventId(call.header("last-event-id"));
      const stream = open();
      await writeJobEvents(contextOf(call).jobs.follow(id, after, stream.closed), stream);
    },
  }),
];

/** Jobs of other contexts are not found. */
async function find(call: Pick<Call<{ job_id: string }>, "context" | "params">): Promise<JobRow> {
  const { context, jobs } = contextOf(call);
  const row = await jobs.get(call.params.job_id);
  if (row?.space === context.id) return row;
  throw new RequestError("not_found", `There is no job ${call.params.job_id}.`);
}

function describe(row: JobRow): Job {
  const { id, kind, params, state, progress, result, error } = row;
  const job = {
    id,
    kind,
    params,
    state,
    progress,
    result,
    error,
    cancel_requested: row.cancelRequested,
    created_at: row.createdAt,
    started_at: row.startedAt,
    ended_at: row.endedAt,
  };
  // The job's kind has parsed the params, and wrote progress and result.
  return job as Job;
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RequestError("invalid_request", "Last-Event-ID: this is not the id of an event of this stream.");
}
