import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import { haltDescendants, killGroup, send, type ProcessLedger } from "./process-ledger.ts";
import { CREDENTIAL_DESCRIPTOR } from "./variables.ts";

const STDERR_TAIL = 4_096;
/** Time for the remaining stderr of an exited process to arrive. */
const STDERR_DRAIN_MS = 200;

/** Running children, killed on a normal exit of this process. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid);
});

/** One Claude Code child: leads its own process group, and is in the ledger while it runs. */
export class Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited: Promise<void>;
  #stderr = "";
  /** Targets of the signal that resumes it: its group and descendants. */
  #paused: number[] = [];

  /** `secret` is passed through `CREDENTIAL_DESCRIPTOR`, which only Claude Code itself reads. */
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
    // A write to a dead child emits an error; the exit handler reports it, so this must not crash the host.
    this.process.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      const done = (): void => {
        if (pid !== undefined) {
          // Kill processes that the leader left behind in its group.
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
      // Without a ledger entry, the process would survive a crash of the host as an orphan.
      killGroup(pid);
      throw new LlmError(
        "process_died",
        `Claude Code was not started, because the ledger cannot be written: ${String(cause)}`,
        { fix: "Make room on the disk, or set TANDEM_HOME to a folder that can be written.", cause, final: true },
      );
    }
  }

  /** The end of its stderr on one line; complete once it has exited. */
  async stderrTail(): Promise<string> {
    if (this.ended) await Promise.race([finished(this.process.stderr).catch(() => {}), sleep(STDERR_DRAIN_MS)]);
    return this.#stderr.trim().replace(/\s*\n\s*/g, " | ");
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null || this.process.pid === undefined;
  }

  /** Sends SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone. */
  async kill(graceMs: number): Promise<void> {
    const { pid } = this.process;
    if (this.ended || pid === undefined) return this.#exited;
    killGroup(pid, graceMs > 0 ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(() => killGroup(pid), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Suspends the process group and its descendants. */
  pause(): void {
    const { pid } = this.process;
    if (!this.ended && pid !== undefined) this.#paused = [-pid, ...haltDescendants(pid)];
  }

  unpause(): void {
    for (const target of this.#paused.splice(0)) send(target, "SIGCONT");
  }

  /** A held child keeps this process alive; an idle one must not. */
  hold(): void {
    for (const handle of this.#handles()) handle.ref?.();
  }

  letGo(): void {
    for (const handle of this.#handles()) handle.unref?.();
  }

  /** Resident memory in MB, or undefined where it cannot be read cheaply. */
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
  // If the child dies before it reads, its exit reports that.
  channel.on("error", () => {}).unref();
  // Also read from the pipe; otherwise its closing would go unnoticed.
  channel.resume().end(`${secret}\n`);
}
