import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import { SandboxError, type SandboxPlan } from "@tandem/sandbox";
import { OwnedProcess } from "./processes/owned-process.ts";
import type { ProcessLedger } from "./processes/process-ledger.ts";
import { CREDENTIAL_DESCRIPTOR } from "./variables.ts";

const STDERR_TAIL = 4_096;
/** Time for the remaining stderr of an exited process to arrive. */
const STDERR_DRAIN_MS = 200;

/** One Claude Code child. It and all processes that it has started end together. */
export class Child {
  readonly process: OwnedProcess["process"];
  readonly #owned: OwnedProcess;
  #stderr = "";

  /** `secret` is passed through `CREDENTIAL_DESCRIPTOR`, which only Claude Code itself reads. */
  constructor(
    ledger: ProcessLedger,
    { command, args, cwd, env }: SpawnOptions,
    {
      secret,
      yields = false,
      sandbox,
    }: { secret?: string | undefined; yields?: boolean; sandbox?: SandboxPlan | undefined } = {},
  ) {
    try {
      const pipes = secret === undefined ? [] : [CREDENTIAL_DESCRIPTOR];
      // A sandbox has a config folder of its own.
      const pidFolders = sandbox ? [] : registryOf(env["CLAUDE_CONFIG_DIR"]);
      this.#owned = new OwnedProcess(ledger, {
        command,
        args,
        cwd,
        env,
        pipes,
        yields,
        pidFolders,
        ...(sandbox && { sandbox }),
      });
    } catch (cause) {
      if (cause instanceof SandboxError) {
        throw new LlmError("process_died", cause.message, { fix: cause.fix ?? "", cause, final: true });
      }
      throw new LlmError(
        "process_died",
        `Claude Code was not started, because the ledger cannot be written: ${String(cause)}`,
        { fix: "Make room on the disk, or set TANDEM_HOME to a folder that can be written.", cause, final: true },
      );
    }
    this.process = this.#owned.process;
    handOver(this.process, secret);
    this.process.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_TAIL);
    });
    // A write to a dead child emits an error; the exit handler reports it, so this must not crash the host.
    this.process.stdin.on("error", () => {});
  }

  /** The pid of Claude Code itself, also inside a namespace or sandbox. */
  get pid(): number | undefined {
    return this.#owned.pid;
  }

  /** The end of its stderr on one line; complete once it has exited. */
  async stderrTail(): Promise<string> {
    if (this.ended) await Promise.race([finished(this.process.stderr).catch(() => {}), sleep(STDERR_DRAIN_MS)]);
    return this.#stderr.trim().replace(/\s*\n\s*/g, " | ");
  }

  get ended(): boolean {
    return this.#owned.hasExited;
  }

  /** Resolves when the process and everything that it has started are dead. */
  get gone(): Promise<void> {
    return this.#owned.gone;
  }

  /** The SDK's reason for its end. A namespace reports a signal as an exit code: name the signal. */
  exitReason(reason: string): string {
    const { endedBy } = this.#owned;
    return endedBy === undefined ? reason : reason.replace(/exited with code \d+/, `terminated by signal ${endedBy}`);
  }

  /**
   * Sends SIGTERM, then SIGKILL after `graceMs`; resolves when the process and everything that it has started are dead.
   */
  async kill(graceMs: number): Promise<void> {
    this.#owned.signal(graceMs > 0 ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(() => this.#owned.kill(), graceMs);
    await this.#owned.gone;
    clearTimeout(timer);
  }

  /** Suspends the process and everything that it has started. */
  pause(): void {
    this.#owned.pause();
  }

  unpause(): void {
    this.#owned.unpause();
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
      const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
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

/**
 * Claude Code registers itself as `sessions/PID.json`. In pid namespaces all would have the same pid and overwrite each
 * other's file.
 */
function registryOf(configDir: string | undefined): string[] {
  if (configDir === undefined) return [];
  const folder = join(configDir, "sessions");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return [folder];
  } catch {
    // Claude Code cannot write there either.
    return [];
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
