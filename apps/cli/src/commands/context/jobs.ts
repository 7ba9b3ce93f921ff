import { TandemError } from "@tandem/protocol";
import type { JobRow, JobState, Store } from "@tandem/storage";
import { holderName, loadContext, openContext, openStore } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { exitCodeOfJob } from "../../exit-code.ts";
import { storedJobLog } from "../../jobs/job-log.ts";
import { RunView } from "../../jobs/run-view.ts";
import { watchJob } from "../../jobs/watch-job.ts";
import { Progress } from "../../progress.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, writeResult, writeTable } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { JOB_STATE_CHOICES } from "../../option-choices.ts";
import { projectWithContext } from "../../with-knowledge.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) =>
    sub(name, description).argument("<job>", "job id; `last` is the newest").addOption(json());
  examples(
    sub("list", "List jobs, newest first.")
      .option("--kind <kind>", "only jobs of this kind, such as scan")
      .addOption(new Option("--state <state>", "only jobs in this state").choices(JOB_STATE_CHOICES))
      .option("--limit <number>", "maximum number of jobs", "20")
      .addOption(json())
      .action(runner(list)),
    "tandem context jobs list",
    "tandem context jobs list --state running --json | jq -r '.jobs[].id'",
  );
  examples(one("show", "Show a job and its result.").action(runner(show)), "tandem context jobs show last");
  examples(
    one("follow", "Follow a job until it ends, also if another process runs it.").action(runner(follow)),
    "tandem context jobs follow last",
  );
  examples(
    one("cancel", "Cancel a job. Its results so far are kept.").action(runner(cancel)),
    "tandem context jobs cancel last",
  );
}

const HOLDER = holderName("tandem context jobs");
/** Longer than a lease: a worker that has not stopped by then is alive and busy. */
const CANCEL_MS = 20_000;

export interface JobListOptions {
  kind?: string;
  state?: JobState;
  limit: string;
}

export async function list(invocation: Invocation, { kind, state, limit }: JobListOptions): Promise<void> {
  const query = { kind, limit: toCount("--limit", limit), ...(state && { states: [state] }) };
  const data = await withJobs(invocation, async (jobs) => {
    const { data: rows } = await jobs.store.jobs.list({ ...query, space: jobs.space });
    return Promise.all(rows.map((row) => withHolder(jobs, row)));
  });
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = data.map((job) => [
    job.id,
    paintState(invocation, job),
    bold(job.kind),
    printable(shownParams(job)),
    dim(ago(job.createdAt)),
  ]);
  const hint = "No jobs. `tandem context scan` and `tandem context ingest` start one.";
  await writeTable(invocation, { jobs: data.map(withoutSpace) }, rows, hint);
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  await print(invocation, await withJobs(invocation, (jobs) => find(jobs, id)));
}

/** Waits until the job has ended. A job of a dead process ends when its lease expires. */
export async function cancel(invocation: Invocation, id: string): Promise<void> {
  const library = await loadContext();
  const row = await withJobs(invocation, async (jobs) => {
    const found = await find(jobs, id);
    const { jobs: store } = jobs.store;
    const asked = await library.cancelJob(store, found.id, HOLDER);
    if (asked.endedAt !== null) return withHolder(jobs, asked);
    using _ = new Progress(invocation, `Waiting for ${found.id} to stop …`);
    const signal = AbortSignal.any([invocation.signal, AbortSignal.timeout(CANCEL_MS)]);
    return withHolder(jobs, (await library.awaitCancelled(store, found.id, HOLDER, signal)) ?? asked);
  });
  await print(invocation, row);
}

/** Shows a job's progress until it ends, in any process. */
export async function follow(invocation: Invocation, id: string): Promise<number> {
  const row = await withJobs(invocation, async (jobs) => {
    const found = await find(jobs, id);
    if (found.holder === null && found.endedAt === null) throw leftAlone(found);
    using view = new RunView(invocation, found.kind);
    const log = storedJobLog(jobs.store.jobs);
    await watchJob(log, found.id, (event, isKept) => view.show(event, isKept), invocation.signal);
    return find(jobs, found.id);
  });
  invocation.signal.throwIfAborted();
  await print(invocation, row);
  return exitCodeOfJob(row);
}

interface Jobs {
  store: Store;
  space: string;
}

async function withJobs<T>(invocation: Invocation, work: (jobs: Jobs) => Promise<T>): Promise<T> {
  const project = await projectWithContext(invocation, "job");
  await using store = await openStore(invocation, project);
  const { id: space } = await openContext(project, store);
  // Ends jobs whose cancellation was requested while their process was dead.
  await (await loadContext()).endCancelled(store.jobs, space, HOLDER);
  return await work({ store, space });
}

/** The process that runs it. Null if it has ended or was interrupted. */
type HeldJob = JobRow & { holder: string | null };

async function withHolder({ store }: Jobs, row: JobRow): Promise<HeldJob> {
  const held = row.endedAt === null ? await store.jobs.holder(row.id) : undefined;
  return { ...row, holder: held && Date.parse(held.expiresAt) > Date.now() ? held.holder : null };
}

const LEFT = "Start it again to continue, or cancel it: tandem context jobs cancel";

const leftAlone = ({ id, kind }: JobRow): TandemError =>
  new TandemError("conflict", `No process runs ${id}: the ${kind} was interrupted.`, { fix: `${LEFT} ${id}` });

/** Finds a job by id. `last` is the newest. */
async function find(jobs: Jobs, id: string): Promise<HeldJob> {
  const { store, space } = jobs;
  const row = id === "last" ? (await store.jobs.list({ space, limit: 1 })).data[0] : await store.jobs.get(id);
  if (row?.space === space) return withHolder(jobs, row);
  throw new TandemError("not_found", id === "last" ? "There are no jobs yet." : `There is no job ${id}.`, {
    fix: "List them with `tandem context jobs list`.",
  });
}

async function print(invocation: Invocation, job: HeldJob): Promise<void> {
  const { dim } = styleFor(invocation.stdout);
  const rows = [
    [dim("job"), job.id],
    [dim("kind"), `${job.kind} ${printable(shownParams(job))}`.trimEnd()],
    [dim("state"), `${paintState(invocation, job)}${job.cancelRequested && job.endedAt === null ? " (stopping)" : ""}`],
    [dim("begun"), ago(job.startedAt ?? job.createdAt)],
    ...(job.endedAt === null ? [] : [[dim("ended"), ago(job.endedAt)]]),
    ...(job.holder === null ? [] : [[dim("by"), printable(job.holder)]]),
    ...(job.endedAt === null && job.holder === null ? [[dim("why"), `No process runs it. ${LEFT} ${job.id}`]] : []),
    ...(job.error ? [[dim("why"), printable([job.error.message, job.error.fix].filter(Boolean).join(" "))]] : []),
    ...(job.result === null ? [] : [[dim("result"), printable(JSON.stringify(job.result))]]),
  ];
  await writeResult(invocation, withoutSpace(job), table(rows));
}

/** The project implies the space. */
function withoutSpace(row: HeldJob): Omit<HeldJob, "space"> {
  const { space: _, ...job } = row;
  return job;
}

const shownParams = ({ params }: JobRow): string =>
  typeof params === "object" && params !== null
    ? Object.entries(params)
        .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
        .join(" ")
    : "";

function paintState({ stdout }: Invocation, { state }: HeldJob): string {
  const { good, warn, bad, dim } = styleFor(stdout);
  const paints = {
    queued: dim,
    running: warn,
    interrupted: bad,
    done: good,
    partly: warn,
    failed: bad,
    cancelled: dim,
  };
  return paints[state](state);
}
