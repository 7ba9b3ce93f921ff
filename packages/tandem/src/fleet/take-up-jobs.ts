import type { JobRunner } from "@tandem/context";

const LOOK_MS = 15_000;

/** Takes up jobs that other processes of the fleet have left, from now on. */
export function takeUpJobs(
  desk: Pick<JobRunner, "resume">,
  log: { warn(details: Record<string, unknown>, message: string): void },
): Disposable {
  const look = (): Promise<void> =>
    desk.resume().catch((error: unknown) => log.warn({ error: String(error) }, "jobs could not be looked for"));
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
