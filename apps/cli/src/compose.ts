import { type CallReport, type LlmConfig, TandemError } from "@tandem/protocol";
import type { LlmBackend, LlmRuntime } from "@tandem/runtime";
import { existsSync } from "node:fs";
import { setGlobalProxyFromEnv } from "node:http";
import { isAbsolute, join, resolve } from "node:path";
import type { Project } from "./config/load-project.ts";
import { resolveSecret, resolveToken } from "./config/resolve-secret.ts";
import { ensureTandemHome, tandemHome, type Variables } from "./config/tandem-home.ts";
import { requireTrust } from "./config/trust.ts";
import type { Context } from "./context.ts";

// The only place that wires rooms together. Each is loaded when it is needed: together they take longer to load than most
// commands to run.

/** The backend that the project's config names. Refused in a folder that needs trust and does not have it. */
export async function createBackend(context: Context, project: Project): Promise<LlmBackend> {
  await requireTrust(context.env, project);
  useProxy(context.env);
  const runtime = await import("@tandem/runtime");
  const config = withAbsolutePaths(project);
  const place = { env: context.env, folder: project.folder, signal: context.signal };
  return runtime.createBackend(config, {
    readSecret: (reference) =>
      // All but this one, a JSON file, travel in a header.
      reference === config.provider.vertex.credentials
        ? resolveSecret(reference, place)
        : resolveToken(reference, place),
    stateFolder: await ensureTandemHome(context.env),
    hostVariables: context.env,
  });
}

/** A runtime on that backend. `onReport` gets what each call took. */
export async function createRuntime(
  context: Context,
  project: Project,
  onReport: (report: CallReport) => void,
): Promise<LlmRuntime> {
  const backend = await createBackend(context, project);
  const runtime = await import("@tandem/runtime");
  return runtime.createRuntime({ config: project.config.llm, backend, sink: onReport });
}

/** What the chosen binary says of the user's own Claude login; nothing is spent and no token renewed. */
export async function probeLogin(context: Context, project: Project, deadlineMs: number) {
  await requireTrust(context.env, project);
  const claudeCode = await import("@tandem/claude-code");
  return claudeCode.probeLogin({
    hostVariables: context.env,
    executable: await findClaudeCode(project),
    deadlineMs,
    signal: context.signal,
  });
}

/** The Claude Code binary that the project uses. */
export async function findClaudeCode(project: Project): Promise<string> {
  const { findExecutable } = await import("@tandem/claude-code");
  return findExecutable(withAbsolutePaths(project).claudeCode.executable);
}

/** Ends what crashed runs have left behind, and says what. */
export async function sweepProcesses(env: Variables): Promise<{ killed: number[]; left: number[] }> {
  const folder = join(tandemHome(env), "processes");
  if (!existsSync(folder)) return { killed: [], left: [] };
  const { ProcessLedger } = await import("@tandem/claude-code");
  return new ProcessLedger(folder).sweep();
}

/** Node's own requests do not heed HTTPS_PROXY by themselves; Claude Code's do. */
function useProxy(env: Variables): void {
  try {
    setGlobalProxyFromEnv(env);
  } catch {
    // Without the cause's words: a proxy's address may hold a password.
    throw new TandemError("usage", "The proxy in HTTPS_PROXY or HTTP_PROXY is not a usable address.", {
      fix: "Correct it, for example to http://proxy.example:3128, or unset it.",
    });
  }
}

/** Paths in a config are relative to the config, wherever the command was started. */
function withAbsolutePaths({ config: { llm }, folder }: Project): LlmConfig {
  const { executable } = llm.claudeCode;
  if (executable === undefined || isAbsolute(executable)) return llm;
  return { ...llm, claudeCode: { ...llm.claudeCode, executable: resolve(folder, executable) } };
}

/** The stand-in for the model's API: only `rehearse` and `demo` use it. */
export const loadRehearsal = () => import("@tandem/rehearsal");
