import { type JobId, runEvent, type RunEvent } from "@tandem/protocol";
import type { JobLog } from "./job-log.ts";

export interface Watched {
  skipped: Extract<RunEvent, { type: "skipped" }>[];
  spent: Extract<RunEvent, { type: "spent" }>;
}

const PAGE = 1_000;
const KEEP_ALIVE_MS = 60_000;

/**
 * Follows a job's log until the job ends or the signal aborts, and returns the summary. For a resumed job, only the current run
 * counts. `isKept` marks a stage that an earlier run finished.
 */
export async function watchJob(
  log: JobLog,
  job: JobId,
  show: (event: RunEvent, isKept: boolean) => void,
  signal: AbortSignal,
): Promise<Watched> {
  const { before, stages } = await earlierRuns(log, job);
  let watched = nothing();
  // The store's own timers do not keep the process alive while another process runs the job.
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  try {
    await log.follow(job, before, signal, ({ event }) => {
      const { data } = runEvent.safeParse(event);
      if (!data) return;
      if (data.type === "started") watched = nothing();
      if (data.type === "skipped") watched.skipped.push(data);
      if (data.type === "spent") watched.spent = data;
      show(data, data.type === "stage_finished" && stages.has(data.stage));
    });
  } finally {
    clearInterval(keepAlive);
  }
  return watched;
}

/** The start of the current run, and the stages finished before it. */
async function earlierRuns(
  log: Pick<JobLog, "events">,
  job: JobId,
): Promise<{ before: number; stages: ReadonlySet<string> }> {
  const finished: { seq: number; stage: string }[] = [];
  let before = 0;
  for (let after = 0; ;) {
    const page = await log.events(job, { after, limit: PAGE });
    for (const { seq, event } of page) {
      if (event.type === "started") before = seq - 1;
      if (event.type === "stage_finished") finished.push({ seq, stage: "stage" in event ? event.stage : "" });
    }
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) break;
  }
  return { before, stages: new Set(finished.filter(({ seq }) => seq <= before).map(({ stage }) => stage)) };
}

const nothing = (): Watched => ({ skipped: [], spent: { type: "spent", requests: 0, cached: 0, usd: 0 } });
