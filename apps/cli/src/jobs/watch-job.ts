import { runEvent, type RunEvent } from "@tandem/context";
import type { JobId } from "@tandem/protocol";
import type { JobStore } from "@tandem/storage";

export interface Watched {
  skipped: Extract<RunEvent, { type: "skipped" }>[];
  spent: Extract<RunEvent, { type: "spent" }>;
}

/**
 * Reads a job's log as it grows, until it ends or the signal fires, and returns what is to be told at the end. Of a job that was
 * taken up again, only what was said since counts.
 */
export async function watchJob(
  jobs: Pick<JobStore, "follow">,
  job: JobId,
  show: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<Watched> {
  let watched = nothing();
  for await (const events of jobs.follow(job, 0, signal)) {
    for (const { event } of events) {
      const { data } = runEvent.safeParse(event);
      if (!data) continue;
      if (data.type === "started") watched = nothing();
      if (data.type === "skipped") watched.skipped.push(data);
      if (data.type === "spent") watched.spent = data;
      show(data);
    }
  }
  return watched;
}

const nothing = (): Watched => ({ skipped: [], spent: { type: "spent", requests: 0, cached: 0, usd: 0 } });
