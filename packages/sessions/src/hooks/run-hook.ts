import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { HookConfig } from "@tandem/protocol";
import { isInside } from "@tandem/workspace";
import { externalDeadline } from "../host/external-deadline.ts";
import { processEnd } from "../host/process-end.ts";
import { checkPinned, type PinnedHook } from "./pin-hooks.ts";

/** The output limit; a hook with more output is broken. */
const MAX_ANSWER_LENGTH = 1024 * 1024;

export interface HookRun {
  folder: string;
  stateFolder: string;
  hostVariables: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** Runs a hook and returns its raw output; rejects on failure, timeout or abort. */
export async function runHook(hook: PinnedHook, question: object, run: HookRun): Promise<string> {
  const late = externalDeadline(hook.timeout);
  const signal = AbortSignal.any([late, run.signal]);
  try {
    await checkPinned(hook);
    return await (hook.url === undefined ? runCommand : post)(hook, JSON.stringify(question), { ...run, signal });
  } catch (error) {
    if (late.aborted) throw new Error(`it took longer than ${hook.timeout / 1_000} s`, { cause: error });
    if (run.signal.aborted) throw new Error("the request was cancelled", { cause: error });
    throw error;
  }
}

/** No shell: a program and its arguments. Everything that it has started ends with it. */
async function runCommand({ command = [] }: HookConfig, question: string, run: HookRun): Promise<string> {
  // Imported lazily: commands that only read sessions start faster without it.
  const { inheritedVariables, OwnedProcess, ProcessLedger } = await import("@tandem/claude-code");
  const [program = "", ...args] = command;
  const inherited = inheritedVariables(run.hostVariables);
  const env = {
    ...inherited,
    TANDEM_FOLDER: run.folder,
    PATH: pathOutside(inherited["PATH"] ?? "", run.folder),
    // Python would import modules from the working folder.
    PYTHONSAFEPATH: "1",
  };
  const ledger = new ProcessLedger(join(run.stateFolder, "processes"));
  const owned = new OwnedProcess(ledger, { command: program, args, cwd: run.folder, env });
  const child = owned.process;
  const kill = (): void => owned.kill();
  try {
    run.signal.addEventListener("abort", kill, { once: true });
    if (run.signal.aborted) kill();
    // A hook that does not read its input is judged by its output.
    child.stdin.on("error", () => {}).end(question);
    let said = "";
    let complaint = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.length > MAX_ANSWER_LENGTH) kill();
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (complaint = (complaint + chunk).slice(-500)));
    const code = await processEnd(owned);
    if (said.length > MAX_ANSWER_LENGTH) throw new Error("its answer is too long");
    if (code !== 0) throw new Error(`it ended with ${code ?? "a signal"}${complaint ? `: ${complaint.trim()}` : ""}`);
    return said;
  } finally {
    run.signal.removeEventListener("abort", kill);
  }
}

/**
 * The entries of PATH that the agent cannot write to. `npx` and `npm run` put `node_modules/.bin` of the project in front, where an agent
 * could plant a program that a hook then runs outside of the sandbox.
 */
function pathOutside(path: string, folder: string): string {
  const entries = path.split(delimiter).filter(isAbsolute);
  return entries.filter((entry) => ![entry, realPath(entry)].some((each) => isInside(folder, each))).join(delimiter);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Redirects count as failures. */
async function post({ url = "" }: HookConfig, question: string, { signal }: HookRun): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", body: question, headers, redirect: "error", signal });
  if (!response.ok) throw new Error(`it answered with status ${response.status}`);
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    said += decoder.decode(chunk as Uint8Array, { stream: true });
    if (said.length > MAX_ANSWER_LENGTH) throw new Error("its answer is too long");
  }
  return said;
}
