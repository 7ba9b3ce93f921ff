import { type CallReport, LlmError, ROLES, type Role, TandemError } from "@tandem/protocol";
import type { LlmRuntime, TextRequest } from "@tandem/runtime";
import { describeReport } from "./call-report-line.ts";
import { createRuntime } from "@tandem/tandem/compose";
import { parseDuration } from "@tandem/tandem/config";
import type { Invocation } from "./invocation.ts";
import { openCallProject } from "@tandem/tandem/project";
import { Progress } from "./progress.ts";
import { readPrompt } from "./input/read-prompt.ts";
import { styleFor, write } from "./terminal.ts";

/** Options of `tandem text` and `tandem object`. */
export interface CallOptions {
  system?: string;
  role: string;
  model?: string;
  patience?: string;
}

/**
 * Makes one call: reads the prompt, opens the project and runtime, shows progress on stderr, and always closes the runtime.
 * `ask` makes the call.
 */
export async function callModel<T>(
  invocation: Invocation,
  words: readonly string[],
  options: CallOptions,
  ask: (runtime: LlmRuntime, request: TextRequest) => Promise<T>,
): Promise<{ answer: T; report: CallReport }> {
  const role = toRole(options.role);
  const patienceMs = options.patience === undefined ? undefined : parseDuration("--patience", options.patience);
  const project = await openCallProject(invocation);
  if (options.model !== undefined) project.config.llm.models[role] = options.model;
  const prompt = await readPrompt(invocation, words);

  let report: CallReport | undefined;
  using progress = new Progress(invocation, "Starting …");
  const runtime = await createRuntime(invocation, project, (done) => (report = done));
  try {
    progress.label("Waiting for the answer …");
    const answer = await ask(runtime, {
      role,
      prompt,
      system: options.system,
      signal: invocation.signal,
      patienceMs,
      onWait: (wait) => progress.wait(wait),
    });
    if (!report) throw new TandemError("unexpected", "The call ended without a report.");
    return { answer, report };
  } catch (error) {
    throw error instanceof LlmError && error.code === "aborted" ? new TandemError("aborted", "Interrupted.") : error;
  } finally {
    await runtime.close();
  }
}

/** On a terminal, prints usage and payer below the answer. */
export async function showReport({ stderr }: Invocation, report: CallReport): Promise<void> {
  if (stderr.isTTY) await write(stderr, `${styleFor(stderr).dim(describeReport(report))}\n`);
}

function toRole(name: string): Role {
  const role = ROLES.find((role) => role === name);
  if (!role) throw new TandemError("usage", `Unknown role ${name}.`, { fix: `Use one of ${ROLES.join(", ")}.` });
  return role;
}
