import type { JobRunner } from "@tandem/context";

const POLL_MS = 15_000;

/**
 * Periodically sends unfinished jobs whose run the queue does not have: of a command that was killed, or of a process that
 * was killed between storing a job and sending its run.
 */
export function resumeJobs(
  jobs: Pick<JobRunner, "resume">,
  log: { warn(details: Record<string, unknown>, message: string): void },
): Disposable {
  const poll = (): Promise<void> =>
    jobs.resume().catch((error: unknown) => log.warn({ error: String(error) }, "jobs could not be looked for"));
  const timer = setInterval(() => void poll(), POLL_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
