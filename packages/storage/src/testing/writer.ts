import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { JobId } from "@tandem/protocol";
import type { Lease } from "../lease.ts";

/** Another process that appends concurrently to a log until it is killed. */
export interface Writer extends AsyncDisposable {
  /** Highest number reported as stored; waits for at least one. Rejects if the process has exited. */
  acknowledged(): Promise<number>;
  /** For example SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL. Resolves with the highest number reported as stored. */
  kill(): Promise<number>;
}

export const startWriter = (location: string, lease: Lease): Writer =>
  start(new URL("./writer-process.ts", import.meta.url), [location, lease.session, String(lease.token)]);

/** A process that takes a job and works on it, renewing a lease of `ttlMs`. */
export const startJobWorker = (location: string, job: JobId, ttlMs: number): Writer =>
  start(new URL("./job-worker-process.ts", import.meta.url), [location, job, String(ttlMs)]);

function start(script: URL, args: readonly string[]): Writer {
  const child = spawn(process.execPath, [script.pathname, ...args], {
    env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let highest = 0;
  let failure: Error | undefined;
  const first = Promise.withResolvers<void>();
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    highest = Math.max(highest, Number(line));
    first.resolve();
  });
  const closed = once(lines, "close");
  child.once("exit", (code) => {
    failure = new Error(`The writer ended by itself with ${code}.`);
    first.resolve();
  });
  const kill = async (): Promise<number> => {
    child.kill("SIGKILL");
    await closed;
    return highest;
  };
  return {
    acknowledged: async () => {
      await first.promise;
      if (failure) throw failure;
      return highest;
    },
    signal: (name) => void child.kill(name),
    kill,
    [Symbol.asyncDispose]: async () => void (await kill()),
  };
}
