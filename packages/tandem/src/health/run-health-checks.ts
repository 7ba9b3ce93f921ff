import { TandemError } from "@tandem/protocol";
import { checkAuth, type AuthCheck } from "../models/check-auth.ts";
import { untrustedSettings } from "../config/trust.ts";
import type { Host } from "../config/host.ts";
import { openProject, openProjectOrDefaults } from "../project/open-project.ts";
import { type Finding, type CheckInput, type ServerProbe, runChecks } from "./check.ts";
import { machineChecks } from "./machine-checks.ts";
import { probe } from "./probe-check.ts";
import { projectChecks } from "./project-checks.ts";
import { serviceChecks } from "./service-checks.ts";
import { sessionChecks } from "./session-checks.ts";

const DEADLINE_MS = 20_000;
/** Shorter than the timeout of a check, so that the check can report the cause. */
const AUTH_MS = 15_000;
/** A call starts Claude Code and waits for the model. */
const PROBE_MS = 60_000;
const CHECKS = [...projectChecks, ...serviceChecks, ...sessionChecks, ...machineChecks];

export async function runHealthChecks(
  host: Host,
  isServerReady: ServerProbe,
  options: { onDone?: (done: number, all: number) => void; probe?: boolean } = {},
): Promise<(Finding & { name: string })[]> {
  const input = await readInput(host, isServerReady);
  const probes = options.probe ? [probe] : [];
  let done = 0;
  const onDone = () => options.onDone?.(++done, CHECKS.length + probes.length);
  const findings = await Promise.all([
    runChecks(CHECKS, input, DEADLINE_MS, onDone),
    runChecks(probes, input, PROBE_MS, onDone),
  ]);
  return findings.flat();
}

async function readInput(host: Host, isServerReady: ServerProbe): Promise<CheckInput> {
  let auth: Promise<AuthCheck> | undefined;
  try {
    const project = await openProject(host);
    const untrusted = await untrustedSettings(host.env, project.folder, project.settings).catch(() => undefined);
    return {
      host,
      isServerReady,
      project,
      here: project,
      projectError: undefined,
      trusted: untrusted?.length === 0,
      auth: () => (auth ??= checkAuth(host, project, AUTH_MS)),
    };
  } catch (projectError) {
    const auth = () => Promise.reject(projectError);
    const isMissing = projectError instanceof TandemError && projectError.code === "config_missing";
    const here = isMissing ? await openProjectOrDefaults(host).catch(() => undefined) : undefined;
    return { host, isServerReady, project: undefined, here, projectError, trusted: here !== undefined, auth };
  }
}
