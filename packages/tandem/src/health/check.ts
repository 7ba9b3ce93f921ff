import type { Finding } from "@tandem/protocol";
import type { AuthCheck } from "../models/check-auth.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import type { ServerInfo } from "../server/server-file.ts";

/** The finding of one check, without its name. */
export type Outcome = Omit<Finding, "name">;

/** Asks a running server whether it can serve requests. */
export type ServerProbe = (server: ServerInfo, signal: AbortSignal) => Promise<boolean>;

export interface CheckInput {
  host: Host;
  /** Undefined if there is no project or its config is invalid. */
  project: Project | undefined;
  /** The project, else this folder with default settings, which is enough for sessions. */
  here: Project | undefined;
  /** Why there is no project. */
  projectError: unknown;
  /** Whether the folder's config is trusted. */
  trusted: boolean;
  /** Cached: several checks use it. */
  auth: () => Promise<AuthCheck>;
  isServerReady: ServerProbe;
}

/** One health check. Returns undefined if it does not apply. */
export interface Check {
  name: string;
  run(input: CheckInput, signal: AbortSignal): Promise<Outcome | undefined>;
}

export const ok = (detail: string): Outcome => ({ result: "ok", detail });
export const warning = (detail: string, fix?: string): Outcome => ({ result: "warning", detail, fix });
export const failure = (detail: string, fix?: string): Outcome => ({ result: "failure", detail, fix });

/** Runs all checks in parallel, each with a timeout. A check that throws or hangs fails alone. */
export async function runChecks(
  checks: readonly Check[],
  input: CheckInput,
  deadlineMs: number,
  onDone: (done: number) => void = () => {},
): Promise<Finding[]> {
  let done = 0;
  const findings = await Promise.all(
    checks.map(async (check) => {
      const finding = await within(deadlineMs, input.host.signal, (signal) => check.run(input, signal));
      onDone(++done);
      return finding && { name: check.name, ...finding };
    }),
  );
  input.host.signal.throwIfAborted();
  return findings.filter((finding) => finding !== undefined);
}

async function within(
  deadlineMs: number,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<Outcome | undefined>,
): Promise<Outcome | undefined> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const signal = AbortSignal.any([deadline, outer]);
  const late = new Promise<Outcome>((resolve) => {
    const end = () =>
      resolve(failure(`The check timed out after ${deadlineMs / 1000} s.`, "Run `tandem doctor` again."));
    signal.addEventListener("abort", end, { once: true });
  });
  try {
    return await Promise.race([run(signal), late]);
  } catch (error) {
    const { message, fix } = error as Error & { fix?: string };
    return failure(message, fix || undefined);
  }
}
