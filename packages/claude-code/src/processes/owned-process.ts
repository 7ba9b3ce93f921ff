import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants, devNull } from "node:os";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { checkMounted, MAY_START } from "@tandem/sandbox";
import type { ProcessLedger } from "./process-ledger.ts";
import { programPid } from "./process-namespace.ts";
import {
  haltTree,
  isSame,
  killTree,
  MARKER_VARIABLE,
  markedProcesses,
  newMarker,
  sendSignal,
  startTime,
} from "./process-tree.ts";
import { NICENESS, startLine, type OwnedCommand, type StartLine } from "./start-line.ts";

/** A process in an uninterruptible system call cannot be killed; do not wait for it forever. */
const GONE_MS = 5_000;
const LOOK_MS = 5;
const STATUS_MS = 200;

/** Owned processes that run, killed on a normal exit of this process. */
const running = new Set<OwnedProcess>();
process.on("exit", () => {
  for (const owned of running) owned.kill();
});

/**
 * A program that ends with this process, together with all its descendants: in a pid namespace where the machine has them,
 * else found by an environment variable and its process group. It leads its own group and is in the ledger while it runs.
 */
export class OwnedProcess {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves when the program and all its descendants are dead. Never rejects. */
  readonly gone: Promise<void>;
  /** Undefined in a pid namespace, where the kernel finds all descendants. */
  readonly #marker: string | undefined;
  #init: { pid: number; startedAt: string } | undefined;
  readonly #initKnown = Promise.withResolvers<void>();
  #pid: number | undefined;
  /** Targets of the signal that resumes it: its group and descendants. */
  #paused: number[] = [];

  /** Throws if the ledger cannot be written: the process would survive a crash of this one. */
  constructor(ledger: ProcessLedger, command: OwnedCommand) {
    const line = startLine(command);
    // In bubblewrap too: if the server dies early, the child of bubblewrap can hang before it has started the namespace's init.
    const marker = newMarker();
    if (!line.isWrapped) this.#marker = marker;
    if (!line.isWrapped && line.isFound) ledger.guard();
    const { statusDescriptor, startDescriptor, feeds } = line;
    const nothing = openSync(devNull, "r+");
    const piped = new Set([0, 1, 2, ...(command.pipes ?? []), ...feeds.map((feed) => feed.descriptor)]);
    if (line.isWrapped) piped.add(statusDescriptor).add(startDescriptor);
    if (line.blockDescriptor !== undefined) piped.add(line.blockDescriptor);
    const stdio = Array.from({ length: Math.max(...piped, ...line.covered) + 1 }, (_, descriptor) =>
      piped.has(descriptor) ? "pipe" : line.covered.includes(descriptor) ? nothing : "ignore",
    );
    // The first three are pipes.
    this.process = spawn(line.command, [...line.args], {
      cwd: line.cwd,
      env: { ...line.env, [MARKER_VARIABLE]: marker },
      stdio,
      detached: true,
      ...line.user,
    }) as ChildProcessByStdio<Writable, Readable, Readable>;
    closeSync(nothing);
    const { yields } = command;
    const { pid } = this.process;
    for (const { descriptor, bytes } of feeds) this.#channel(descriptor)?.end(bytes);
    if (yields && pid !== undefined) lowerGroupPriority(pid);
    // A namespaced program is signalled itself: bubblewrap would kill everything at once on any signal.
    this.process.kill = (signal) => this.signal(typeof signal === "string" ? signal : "SIGTERM");
    const status = line.isWrapped ? this.#readStatus(line) : Promise.resolve();
    const gate = line.isWrapped ? this.#channel(startDescriptor) : undefined;
    const begin = (): void => {
      try {
        // From here on, the next start of the server finds the namespace.
        if (pid !== undefined && this.#init) ledger.add(pid, { marker, init: this.#init });
        if (this.#init) checkMounted(line.identities, this.#init.pid);
        gate?.end(MAY_START);
      } catch (error) {
        this.process.emit("error", error);
        this.kill();
      }
    };
    gate?.once("data", () => void this.#initKnown.promise.then(begin));
    this.gone = new Promise((resolve) => {
      const end = async (): Promise<void> => {
        if (pid !== undefined) {
          gate?.destroy();
          await settledWithin(STATUS_MS, status);
          await this.#endRest();
          running.delete(this);
          ledger.remove(pid);
        }
        line.group?.close();
        resolve();
      };
      this.process.once("exit", () => void end()).once("error", () => void end());
    });
    if (pid === undefined) return;
    running.add(this);
    try {
      ledger.add(pid, { marker });
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** The program's own pid; undefined before it runs. */
  get pid(): number | undefined {
    const { pid } = this.process;
    if (this.#marker !== undefined || pid === undefined) return pid;
    if (this.#pid === undefined) {
      const found = programPid(pid);
      if (found !== pid) this.#pid = found;
    }
    return this.#pid;
  }

  get hasExited(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null || this.process.pid === undefined;
  }

  /** The signal that ended the program. */
  get endedBy(): string | undefined {
    const { exitCode, signalCode } = this.process;
    if (signalCode !== null || this.#marker !== undefined || exitCode === null || exitCode <= 128) {
      return signalCode ?? undefined;
    }
    return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
  }

  /** Sends a signal to the program, and without a namespace to its group. */
  signal(signal: NodeJS.Signals): boolean {
    if (this.hasExited) return false;
    const { pid } = this;
    if (signal === "SIGKILL" || pid === undefined) this.kill();
    else sendSignal(this.#marker === undefined ? pid : -pid, signal);
    return true;
  }

  /** Suspends the program and its descendants. */
  pause(): void {
    const { pid } = this.process;
    if (!this.hasExited && pid !== undefined) this.#paused = [-pid, ...haltTree(pid, this.#marker)];
  }

  unpause(): void {
    for (const target of this.#paused.splice(0)) sendSignal(target, "SIGCONT");
  }

  /** Kills the program and all its descendants. `gone` resolves when they are dead. */
  kill(): void {
    const { pid } = this.process;
    if (pid === undefined) return;
    if (this.#marker !== undefined) return killTree(pid, this.#marker);
    // The kernel kills the whole namespace with its init.
    if (this.#init && isSame(this.#init.pid, this.#init.startedAt)) sendSignal(this.#init.pid, "SIGKILL");
    if (!this.hasExited) sendSignal(-pid, "SIGKILL");
  }

  /** If bubblewrap fails before it reads from a channel, its exit says so. */
  #channel(descriptor: number): Socket | undefined {
    const channel = (this.process as ChildProcess).stdio[descriptor];
    if (!(channel instanceof Socket)) return undefined;
    channel.on("error", () => {}).unref();
    return channel;
  }

  async #readStatus(line: StartLine): Promise<void> {
    const channel = this.#channel(line.statusDescriptor);
    if (!channel) return;
    let said = "";
    channel.setEncoding("utf8").on("data", (chunk: string) => {
      if (this.#init) return;
      // One object, written in parts.
      said += chunk;
      const pid = Number(/"child-pid": (\d+)\D/.exec(said)?.[1]);
      const startedAt = startTime(pid);
      if (startedAt === undefined) return;
      this.#init = { pid, startedAt };
      this.#initKnown.resolve();
      void this.#unblock(line, pid);
    });
    await finished(channel).catch(() => {});
  }

  /** Bubblewrap starts processes now. Its init is in the group by then, so no process escapes it. */
  async #unblock({ group, blockDescriptor }: StartLine, init: number): Promise<void> {
    if (blockDescriptor === undefined) return;
    // If the group was removed, the limits of each process still bind.
    await group?.add(init).catch(() => {});
    this.#channel(blockDescriptor)?.end("start");
  }

  /** The program has exited; its descendants may still run. */
  async #endRest(): Promise<void> {
    const left = (): boolean =>
      this.#marker === undefined
        ? this.#init !== undefined && isSame(this.#init.pid, this.#init.startedAt)
        : markedProcesses(this.#marker).length > 0;
    this.kill();
    const deadline = performance.now() + GONE_MS;
    while (left() && performance.now() < deadline) {
      await sleep(LOOK_MS);
      if (this.#marker !== undefined) killTree(undefined, this.#marker);
    }
  }
}

/** Waits for a promise at most this long. Leaves no timer, which would delay the exit of this process. */
export async function settledWithin(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: timer.signal })]);
  timer.abort();
}

/** Without cgroups, Linux schedules a session leader by its autogroup's nice value only. */
function lowerGroupPriority(pid: number): void {
  try {
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS));
  } catch {
    // The child has exited, or the kernel has no autogroups: the nice value of the process counts.
  }
}
