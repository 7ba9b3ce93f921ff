import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { runCommand, type CommandProcess } from "../run-command.ts";

/** The exit code after Ctrl-C. */
const INTERRUPTED = 130;

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A command with open pipes, in this process or in its own. */
export interface PipedCommand {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when it exits. */
  outcome: Promise<Outcome>;
}

/** A command that runs in the test's own process. */
export interface OpenCommand extends PipedCommand, AsyncDisposable {
  /** Interrupts it as Ctrl-C does and waits until it exits. */
  stop(): Promise<Outcome>;
}

/** Starts a command in this process, which costs a tenth of starting another one. */
export function openCommand(
  args: readonly string[],
  { cwd, env }: { cwd: string; env: CommandProcess["env"] },
): OpenCommand {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const texts = [textOf(stdout), textOf(stderr)] as const;
  const interrupt = new AbortController();
  const ended = runCommand(args, {
    cwd,
    env,
    stdin: stdin as Readable as NodeJS.ReadStream,
    stdout: stdout as Writable as NodeJS.WriteStream,
    stderr: stderr as Writable as NodeJS.WriteStream,
    interrupt: {
      signal: interrupt.signal,
      exitCode: () => (interrupt.signal.aborted ? INTERRUPTED : undefined),
      allow: () => {},
    },
  });
  const outcome = ended.then(async (code) => {
    stdout.end();
    stderr.end();
    return { code, signal: null, stdout: await texts[0], stderr: await texts[1] };
  });
  const stop = (): Promise<Outcome> => {
    interrupt.abort();
    return outcome;
  };
  return { stdin, stdout, stderr, outcome, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  return Buffer.concat(chunks).toString();
}

/** Waits for exit and returns the output. */
export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** The pipes of a process. */
export const pipesOf = (child: ChildProcess): PipedCommand => ({
  stdin: child.stdin!,
  stdout: child.stdout!,
  stderr: child.stderr!,
  outcome: outcomeOf(child),
});
