import type { RunEvent } from "@tandem/context";
import { type JobId, TandemError, systemClock } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { openContext } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { type GivenDocuments, serveContext } from "@tandem/tandem/context";
import type { ServerInfo } from "@tandem/tandem/server";
import { z } from "zod";
import type { Invocation } from "../invocation.ts";
import { serverFor } from "../sessions/open-client.ts";
import { ServerConnection } from "../sessions/server-connection.ts";
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

export interface EndedJob {
  row: JobRow;
  watched: Watched;
  milliseconds: number;
}

/** Runs a job of the context and shows its progress: in the server that runs on this context, else in this process. */
export async function runContextJob(
  invocation: Invocation,
  project: Project,
  store: Store,
  job: ContextJob,
): Promise<EndedJob> {
  const started = Date.now();
  using view = new RunView(invocation, job.title);
  const watch: Watch = (id, signal, onStageEnd) => {
    const show = (event: RunEvent, isKept: boolean) => {
      view.show(event, isKept);
      if (event.type === "stage_finished") onStageEnd?.();
    };
    return watchJob(store.jobs, id, show, signal);
  };
  const server = job.given ? undefined : await serverOfContext(invocation, project, store, job);
  const ended = server
    ? await runInServer(invocation, store, server, job, watch)
    : await runHere(invocation, project, store, job, watch);
  return { ...ended, milliseconds: Date.now() - started };
}

type Watch = (id: JobId, signal: AbortSignal, onStageEnd?: () => void) => Promise<Watched>;

async function runHere(
  invocation: Invocation,
  project: Project,
  store: Store,
  { kind, params, command, given }: ContextJob,
  watch: Watch,
): Promise<Omit<EndedJob, "milliseconds">> {
  const collect = boundHeap();
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
        watched = watch(id, watching.signal, collect);
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
  { env, signal }: Invocation,
  store: Store,
  server: ServerInfo,
  { kind, params }: ContextJob,
  watch: Watch,
): Promise<Omit<EndedJob, "milliseconds">> {
  using connection = await ServerConnection.open(server);
  const { id } = await connection.api.call("jobs.create", { body: { kind, params } });
  const watched = await watch(id as JobId, signal);
  const row = await store.jobs.get(id);
  if (signal.aborted) {
    throw new TandemError("aborted", `The ${kind} continues in the server at ${server.url}.`, {
      fix: `Follow it: tandem context jobs follow ${id}. Cancel it: tandem context jobs cancel ${id}.`,
    });
  }
  if (!row) throw new TandemError("not_found", `The job ${id} was deleted.`);
  return { row: withMissingSecrets(row, env, server), watched };
}

/** Explains a secret that this command's environment has and the server's lacks. */
function withMissingSecrets(row: JobRow, env: Invocation["env"], { url, pid }: ServerInfo): JobRow {
  const names = (row.error?.missing_variables ?? []).filter((name) => env[name]);
  if (!row.error || names.length === 0) return row;
  const fix = `The server at ${url} (pid ${pid}) runs this job, and its environment has no ${names.join(", ")}. Start the server with it, or stop the server and run this again.`;
  return { ...row, error: { ...row.error, fix } };
}

/** The running server, if it serves this context and its config has all that the job names. */
async function serverOfContext(
  invocation: Invocation,
  project: Project,
  store: Store,
  { kind, params }: ContextJob,
): Promise<ServerInfo | undefined> {
  const server = await serverFor(invocation, project);
  if (!server) return undefined;
  using connection = await ServerConnection.open(server);
  const theirs = await connection.api.call("context.retrieve").catch((error: unknown) => {
    // The server's own project has no context.
    if (error instanceof TandemError && error.code === "not_found") return undefined;
    throw error;
  });
  if (!theirs?.job_kinds.includes(kind) || theirs.id !== (await openContext(project, store)).id) return undefined;
  // A server that started before the config changed does not know new names.
  const { connection: name, sources = [] } = z
    .object({ connection: z.string().optional(), sources: z.array(z.string()).optional() })
    .parse(params);
  const knows = (list: readonly { name: string }[], wanted: string) => list.some((each) => each.name === wanted);
  const isKnown =
    (name === undefined || knows(theirs.connections, name)) && sources.every((each) => knows(theirs.sources, each));
  return isKnown ? server : undefined;
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
