import type { JobRunner } from "@tandem/context";

const POLL_MS = 15_000;

/** Periodically resumes jobs that other processes of the fleet abandoned. */
export function resumeJobs(
  jobs: Pick<JobRunner, "resume">,
  log: { warn(details: Record<string, unknown>, message: string): void },
): Disposable {
  const poll = (): Promise<void> =>
    jobs.resume().catch((error: unknown) => log.warn({ error: String(error) }, "jobs could not be looked for"));
  const timer = setInterval(() => void poll(), POLL_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
