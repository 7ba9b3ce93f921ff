import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import { killGroup, type ProcessLedger } from "./process-ledger.ts";
import { CREDENTIAL_DESCRIPTOR } from "./variables.ts";

const STDERR_TAIL = 4_096;
/** How long the last words of a process that has ended may take to arrive. */
const LAST_WORDS_MS = 200;

/** Every child of this process that still runs, so that a normal exit takes them along. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid);
});

/** One Claude Code child: leader of its own process group, in the ledger while it runs. */
export class Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited: Promise<void>;
  #stderr = "";

  /** `secret` is handed over where only Claude Code itself reads it, at `CREDENTIAL_DESCRIPTOR`. */
  constructor(ledger: ProcessLedger, { command, args, cwd, env }: SpawnOptions, secret?: string) {
    const stdio: "pipe"[] = ["pipe", "pipe", "pipe"];
    if (secret !== undefined) stdio[CREDENTIAL_DESCRIPTOR] = "pipe";
    const child = spawn(command, args, { cwd, env, stdio, detached: true });
    this.process = child;
    handOver(child, secret);
    const { pid } = child;
    this.process.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_TAIL);
    });
    // Writing to a child that has just died is reported by its exit, not by a crash of ours.
    this.process.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      const done = (): void => {
        if (pid !== undefined) {
          // Whatever the leader started and left in its group goes with it.
          killGroup(pid);
          running.delete(pid);
          ledger.remove(pid);
        }
        resolve();
      };
      this.process.once("exit", done).once("error", done);
    });
    if (pid === undefined) return;
    running.add(pid);
    try {
      ledger.add(pid);
    } catch (cause) {
      // A process that is not in the ledger would outlive a crash of ours.
      killGroup(pid);
      throw new LlmError(
        "process_died",
        `Claude Code was not started, because the ledger cannot be written: ${String(cause)}`,
        {
          fix: "Make room on the disk, or set TANDEM_HOME to a folder that can be written.",
          cause,
          final: true,
        },
      );
    }
  }

  /** The end of what it wrote to stderr, on one line; complete if it has ended. */
  async stderrTail(): Promise<string> {
    if (this.ended) await Promise.race([finished(this.process.stderr).catch(() => {}), sleep(LAST_WORDS_MS)]);
    return this.#stderr.trim().replace(/\s*\n\s*/g, " | ");
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null || this.process.pid === undefined;
  }

  /** Asks it to end, then makes it; resolves when it is gone. */
  async kill(graceMs: number): Promise<void> {
    const { pid } = this.process;
    if (this.ended || pid === undefined) return this.#exited;
    killGroup(pid, graceMs > 0 ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(() => killGroup(pid), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** While held, the child keeps this process alive; an idle one must not. */
  hold(): void {
    for (const handle of this.#handles()) handle.ref?.();
  }

  letGo(): void {
    for (const handle of this.#handles()) handle.unref?.();
  }

  /** Resident megabytes, or undefined where the system does not tell cheaply. */
  get residentMb(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.process.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
    } catch {
      return undefined;
    }
  }

  #handles(): { ref?: () => void; unref?: () => void }[] {
    const { stdin, stdout, stderr } = this.process as ChildProcess;
    return [this.process, stdin, stdout, stderr].map((handle) => handle as { ref?: () => void; unref?: () => void });
  }
}

function handOver(child: ChildProcess, secret: string | undefined): void {
  const channel = child.stdio[CREDENTIAL_DESCRIPTOR];
  if (!(channel instanceof Socket) || secret === undefined) return;
  // One that dies before it has read is reported by its exit.
  channel.on("error", () => {}).unref();
  // Read from, too: otherwise nobody would notice that the other end is closed.
  channel.resume().end(`${secret}\n`);
}
