import { TandemError, type CallReport, type Finding } from "@tandem/protocol";
import { checkAuth, type AuthCheck } from "../models/check-auth.ts";
import { untrustedSettings } from "../config/trust.ts";
import type { Host } from "../config/host.ts";
import { openProject, openProjectOrDefaults, callProject } from "../project/open-project.ts";
import { type CheckInput, type ServerProbe, runChecks, type Check, ok } from "./check.ts";
import { machineChecks } from "./machine-checks.ts";
import { projectChecks } from "./project-checks.ts";
import { serviceChecks } from "./service-checks.ts";
import { sessionChecks } from "./session-checks.ts";
import { createRuntime } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { PAYERS } from "../project/describe-project.ts";

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
): Promise<Finding[]> {
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

/** Makes one minimal model call: the only proof that the service accepts the credential. Costs a few tokens. */
const probe: Check = {
  name: "probe",
  async run({ host, project, here, trusted }, signal) {
    const chosen = project ?? (here && callProject(here));
    if (!chosen || !trusted || chosen.config.llm.provider.backend === "none") return undefined;
    let report: CallReport | undefined;
    const runtime = await createRuntime(host, asOneRequest(chosen), (done) => (report = done));
    try {
      await runtime.generateText({ role: "default", prompt: "Reply with: ok", signal, patienceMs: 0 });
    } finally {
      await runtime.close();
    }
    if (!report) return undefined;
    const { model, usage, latencyMs, payer } = report;
    const cached = usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
    const tokens = usage.inputTokens + cached + usage.outputTokens;
    return ok(`${model} answered in ${(latencyMs / 1000).toFixed(1)} s, ${tokens} tokens; billed to ${PAYERS[payer]}.`);
  },
};

/** Without retries, so that the probe costs one request, and without processes kept for later calls. */
function asOneRequest(project: Project): Project {
  const { llm } = project.config;
  const single = { ...llm, limits: { ...llm.limits, attempts: 1 }, pool: { ...llm.pool, mode: "off" as const } };
  return { ...project, config: { ...project.config, llm: single } };
}
