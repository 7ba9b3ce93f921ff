import { execFile } from "node:child_process";
import { open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { TandemError } from "@tandem/protocol";
import { EXECUTABLE_FIX } from "./executable.ts";
import { keepAnswer, keyOfFiles } from "./kept-answer.ts";
import { inheritedVariables } from "./variables.ts";

/**
 * Tested releases of Claude Code. Versions below `from` are rejected: an older release could ignore one of our flags (a
 * blocking hook, the folder restriction) and run with less isolation than reported.
 */
export const TESTED_VERSIONS = { from: "2.1.325", to: "2.1.325" } as const;

export interface CheckedVersion {
  version: string;
  /** Set if the version is newer than the tested ones. */
  warning?: string;
}

/** A binary answers within a fraction of a second; one that does not hangs or is another program. */
const DEADLINE_MS = 10_000;

const VERSION = /^(\d+\.\d+\.\d+)\S* \(Claude Code\)/;
const saysVersion = (words: unknown): words is string => typeof words === "string" && VERSION.test(words);

/**
 * Reads the version of a binary that the user chose. Rejects with a typed error if it cannot be started, times out, is
 * not Claude Code, or is too old. Without this check it would fail later with an obscure message. `cacheFile` keeps the answer
 * until the binary changes.
 */
export async function checkVersion(
  executable: string,
  {
    hostVariables,
    signal,
    deadlineMs = DEADLINE_MS,
    cacheFile,
  }: {
    hostVariables: Readonly<Record<string, string | undefined>>;
    signal?: AbortSignal;
    deadlineMs?: number;
    cacheFile?: string;
  },
): Promise<CheckedVersion> {
  const ask = (): Promise<string> => askVersion(executable, { hostVariables, signal, deadlineMs });
  const words =
    cacheFile === undefined ? await ask() : await keepAnswer(cacheFile, () => keyOf(executable), ask, saysVersion);
  const version = VERSION.exec(words)?.[1];
  if (version === undefined) {
    throw new TandemError("no_executable", `${executable} is not Claude Code: it does not say its version.`, {
      fix: EXECUTABLE_FIX,
    });
  }
  const { from, to } = TESTED_VERSIONS;
  if (compareVersions(version, from) < 0) {
    throw new TandemError(
      "executable_too_old",
      `${executable} is Claude Code ${version}; Tandem needs ${from} or newer.`,
      { fix: "Update it (`claude update`), or leave out --claude-path and llm.claudeCode.executable." },
    );
  }
  if (compareVersions(version, to) <= 0) return { version };
  return { version, warning: `Claude Code ${version} is newer than ${to}, the newest that Tandem was tested with.` };
}

/** None for a script: the program that it starts may change without it. */
async function keyOf(executable: string): Promise<string | undefined> {
  try {
    if (!(await stat(executable)).isFile()) return undefined;
    await using file = await open(executable);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return isScript(buffer.subarray(0, bytesRead)) ? undefined : await keyOfFiles([executable], "version");
  } catch {
    // The call of the program reports why it cannot be used.
    return undefined;
  }
}

/** Anything but the binary formats of Linux, macOS and Windows. */
const isScript = (start: Buffer): boolean =>
  !["7f454c46", "cffaedfe", "cafebabe"].includes(start.toString("hex")) && start.toString("latin1", 0, 2) !== "MZ";

async function askVersion(
  executable: string,
  options: {
    hostVariables: Readonly<Record<string, string | undefined>>;
    signal: AbortSignal | undefined;
    deadlineMs: number;
  },
): Promise<string> {
  const deadline = AbortSignal.timeout(options.deadlineMs);
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  const env = { ...inheritedVariables(options.hostVariables), DISABLE_AUTOUPDATER: "1" };
  try {
    return await new Promise<string>((resolve, reject) => {
      const child = execFile(
        executable,
        ["--version"],
        { env, cwd: tmpdir(), signal, killSignal: "SIGKILL", maxBuffer: 64 * 1024 },
        (error, stdout) => (error ? reject(error) : resolve(stdout.trim())),
      );
      // A program that reads stdin would wait for us.
      child.stdin?.end();
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new TandemError("no_executable", `${executable} cannot be used as Claude Code: ${whyNot(error, options)}.`, {
      fix: EXECUTABLE_FIX,
      cause: error,
    });
  }
}

function whyNot(error: unknown, { deadlineMs }: { deadlineMs: number }): string {
  const { code, name } = error as { code?: unknown; name?: string };
  if (name === "AbortError") return `it did not say its version within ${deadlineMs / 1_000} s`;
  if (code === "EACCES") return "it may not be executed";
  if (code === "ENOENT") return "it does not exist, or what it is written for does not";
  if (code === "ENOEXEC") return "it is no program of this machine's kind";
  return typeof code === "number" ? `asked for its version, it ended with ${code}` : `the system says ${String(code)}`;
}

function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number));
  const i = a!.findIndex((part, at) => part !== b![at]);
  return i < 0 ? 0 : a![i]! - b![i]!;
}
