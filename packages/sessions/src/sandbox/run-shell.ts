import { join } from "node:path";
import { RequestError, systemClock } from "@tandem/protocol";
import type { ProgramSandbox } from "./program-sandbox.ts";
import { processEnd } from "../host/process-end.ts";

/** The output limit. The end is kept, because errors are there. */
const MAX_OUTPUT = 64 * 1_024;
const MAX_LINE = 8 * 1_024;

export interface ShellRun {
  exitCode: number | null;
  /** Standard output and error, interleaved. */
  output: string;
  truncated: boolean;
}

/**
 * Runs a shell command in a folder, with the reduced environment of Claude Code's commands and a timeout. It and everything
 * that it has started end together, also if this process crashes.
 */
export async function runShell(
  command: string,
  place: {
    folder: string;
    stateFolder: string;
    hostVariables: Readonly<Record<string, string | undefined>>;
    variables?: Readonly<Record<string, string>>;
    /** Positional parameters: data for the command, never code. */
    words?: readonly string[];
    /** Opened for this command, and closed after it. */
    sandbox?: ProgramSandbox | undefined;
    timeoutMs: number;
    signal?: AbortSignal;
  },
): Promise<ShellRun> {
  // Imported lazily: commands that only read sessions start faster without it.
  const { inheritedVariables, OwnedProcess, ProcessLedger, sandboxedVariables } = await import("@tandem/claude-code");
  const ledger = new ProcessLedger(join(place.stateFolder, "processes"));
  const owned = new OwnedProcess(ledger, {
    command: "/bin/sh",
    args: ["-c", command, "sh", ...(place.words ?? [])],
    cwd: place.folder,
    env: {
      ...(place.sandbox ? sandboxedVariables : inheritedVariables)(place.hostVariables),
      ...place.variables,
      ...place.sandbox?.variables,
    },
    sandbox: place.sandbox?.plan,
  });
  const child = owned.process;
  child.stdin.on("error", () => {}).end();
  let output = "";
  let truncated = false;
  const take = (chunk: string): void => {
    output += chunk;
    if (output.length <= MAX_OUTPUT) return;
    truncated = true;
    output = output.slice(-MAX_OUTPUT);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  let why: string | undefined;
  const end = (reason: string): void => {
    why ??= reason;
    owned.kill();
  };
  const late = (): void => end(`it took longer than ${place.timeoutMs / 1_000} s`);
  const cancel = systemClock.after(place.timeoutMs, late, { keepsProcess: true });
  const onAbort = (): void => end("the request was cancelled");
  place.signal?.addEventListener("abort", onAbort, { once: true });
  if (place.signal?.aborted) onAbort();
  try {
    const exitCode = await processEnd(owned);
    if (why !== undefined) throw new RequestError("unavailable", `The command was ended: ${why}.`);
    return { exitCode, output: truncated ? fromLineStart(output) : output, truncated };
  } finally {
    cancel();
    place.signal?.removeEventListener("abort", onAbort);
  }
}

/** Drops the rest of a line that was cut: a credential without its beginning would not be recognised. */
const fromLineStart = (output: string): string => output.slice(output.slice(0, MAX_LINE).indexOf("\n") + 1);
