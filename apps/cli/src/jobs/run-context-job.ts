import type { RunEvent } from "@tandem/context";
import { type JobId, TandemError, systemClock } from "@tandem/protocol";
import type { JobRow } from "@tandem/storage";
import { openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { type GivenDocuments, serveContext } from "@tandem/tandem/context";
import type { ServerInfo } from "@tandem/tandem/server";
import { z } from "zod";
import type { Invocation } from "../invocation.ts";
import { connectContext, type ContextConnection, missingInServer, type ServedOverview } from "../context-connection.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerJobs, storedJobLog } from "./job-log.ts";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RunView } from "./run-view.ts";
import { type Watched, watchJob } from "./watch-job.ts";
import { debugLog } from "../with-knowledge.ts";

export interface ContextJob {
  kind: "scan" | "ingest" | "memory" | "evals";
  params: Record<string, unknown>;
  /** The command, as other processes see who works on the job. */
  command: string;
  /** Shown while it runs. */
  title: string;
  /** Documents that only this process has. The job then runs here, whether or not a server runs. */
  given?: GivenDocuments | undefined;
}

/** The part of a job that both the store and the server return. */
export interface JobState extends Pick<JobRow, "state" | "result" | "error"> {
  id: string;
}

export interface EndedJob {
  row: JobState;
  watched: Watched;
  milliseconds: number;
}

/** Runs a job of the context and shows its progress: in the server that runs on this context, else in this process. */
export async function runContextJob(invocation: Invocation, project: Project, job: ContextJob): Promise<EndedJob> {
  const started = Date.now();
  using view = new RunView(invocation, job.title);
  using server = job.given ? undefined : await connectContext(invocation, project, canRun(job));
  const ended = server
    ? await runInServer(invocation, project, server, job, view)
    : await runHere(invocation, project, job, view);
  return { ...ended, milliseconds: Date.now() - started };
}

async function runHere(
  invocation: Invocation,
  project: Project,
  { kind, params, command, given }: ContextJob,
  view: RunView,
): Promise<Omit<EndedJob, "milliseconds">> {
  await using store = await openStore(invocation, project);
  const collect = boundHeap();
  const show = (event: RunEvent, isKept: boolean): void => {
    view.show(event, isKept);
    if (event.type === "stage_finished") collect();
  };
  await using knowledge = await serveContext(invocation, project, store, {
    command,
    clock: systemClock,
    log: debugLog(invocation),
    given,
  });
  const watching = new AbortController();
  let watched: Promise<Watched> | undefined;
  try {
    const row = await knowledge.jobRunner.run(kind, params, {
      signal: invocation.signal,
      onStart: (id) => {
        watched = watchJob(storedJobLog(store.jobs), id, show, watching.signal);
      },
    });
    return { row, watched: await watched! };
  } finally {
    watching.abort();
    await watched?.catch(() => {});
  }
}

/** The job continues in the server when this command is interrupted. */
async function runInServer(
  invocation: Invocation,
  project: Project,
  { server, api }: ContextConnection,
  { kind, params }: ContextJob,
  view: RunView,
): Promise<Omit<EndedJob, "milliseconds">> {
  const { signal } = invocation;
  const { id } = await api.call("jobs.create", { body: { kind, params } });
  using jobs = await ServerJobs.open(server, () => serverFor(invocation, project));
  const watched = await watchJob(jobs, id as JobId, (event, isKept) => view.show(event, isKept), signal);
  if (signal.aborted) {
    throw new TandemError("aborted", `The ${kind} continues in the server at ${server.url}.`, {
      fix: `Follow it: tandem context jobs follow ${id}. Cancel it: tandem context jobs cancel ${id}.`,
    });
  }
  const row = await jobs.get(id);
  if (!row) throw new TandemError("not_found", `The job ${id} was deleted.`);
  return { row: withMissingSecrets(row, invocation, server), watched };
}

function withMissingSecrets(row: JobState, invocation: Invocation, server: ServerInfo): JobState {
  const fix = missingInServer(row.error?.missing_variables ?? [], invocation, server, "runs this job");
  return row.error && fix !== undefined ? { ...row, error: { ...row.error, fix } } : row;
}

/** A server that started before the config changed does not know new names. */
function canRun({ kind, params }: ContextJob) {
  const { connection, sources = [] } = z
    .object({ connection: z.string().optional(), sources: z.array(z.string()).optional() })
    .parse(params);
  const knows = (list: readonly { name: string }[], wanted: string) => list.some((each) => each.name === wanted);
  return (served: ServedOverview): boolean =>
    served.job_kinds.includes(kind) &&
    (connection === undefined || knows(served.connections, connection)) &&
    sources.every((each) => knows(served.sources, each));
}

/**
 * Keeps the process's memory near what is in use: a job allocates much and keeps little, and V8 collects seldom where the machine
 * has much memory. Halves the peak of a scan of 1,000 tables, at the same processor time. Returns a function that collects at
 * once, for the end of a stage.
 */
function boundHeap(): () => void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=20");
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
