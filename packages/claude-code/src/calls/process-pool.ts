import { createHash } from "node:crypto";
import type { LlmConfig } from "@tandem/protocol";
import type { ClaudeProcess, ProcessFixture } from "./claude-process.ts";
import { aborted } from "../process-errors.ts";
import type { PoolLimit, ProcessSlot } from "../process-slots.ts";
import type { TurnSetup } from "./turn-setup.ts";

export type PoolSettings = LlmConfig["pool"];

/** A process reserved for one call until released. */
export interface Lease {
  readonly process: ClaudeProcess;
  /** Runs a tool of the call. It may make calls that need a process themselves. */
  runTool<T>(work: () => Promise<T>): Promise<T>;
  /** Returns the process. A healthy one is reset for the next call; others are killed. Never rejects, never waits. */
  release: () => void;
}

/** The process that a call needs. */
interface ProcessRequest {
  key: string;
  fixture: ProcessFixture;
  setup: TurnSetup;
}

interface IdleProcess {
  key: string;
  process: ClaudeProcess;
  expiry: NodeJS.Timeout;
}

interface Waiting {
  key: string;
  /** Called with undefined if the awaited process is lost. */
  give: (process: ClaudeProcess | undefined) => void;
}

/**
 * A pool of warm Claude Code processes, keyed by their fixed settings. A call takes an idle process, waits for one that
 * is being reset, takes one that is starting, or starts one. Idle processes are evicted for needed ones, so the total
 * stays within `size` or the number of running calls, whichever is larger. With a limit, a call waits for its slot, and idle
 * processes end for calls of other pools.
 */
export class ProcessPool {
  readonly #settings: PoolSettings;
  readonly #start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess;
  /** Longest idle first. */
  #idle: IdleProcess[] = [];
  /** Keys of processes being reset, and the calls that wait for them. */
  #clearing: string[] = [];
  #waiting: Waiting[] = [];
  /** Starting spares. A call takes one if there is nothing better: it is ahead of a fresh start. */
  #starting: { key: string; process: ClaudeProcess }[] = [];
  readonly #all = new Set<ClaudeProcess>();
  readonly #limit: PoolLimit | undefined;
  readonly #slots = new Map<ClaudeProcess, ProcessSlot>();
  readonly #endings = new Set<Promise<void>>();
  #closed = false;

  constructor(
    settings: PoolSettings,
    start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess,
    limit?: PoolLimit,
  ) {
    this.#settings = settings;
    this.#start = start;
    this.#limit = limit;
  }

  /** Rejects with `aborted` when the signal fires or the pool is closed. */
  async take(fixture: ProcessFixture, setup: TurnSetup, signal: AbortSignal): Promise<Lease> {
    const want = { key: fixtureKey(fixture), fixture, setup };
    if (signal.aborted || this.#closed) throw aborted();
    const found = this.#unpark(want.key) ?? (await this.#nextCleared(want, signal));
    if (signal.aborted || this.#closed) {
      if (found) this.#park(want.key, found);
      throw aborted();
    }
    const process = found ?? this.#takeStarting(want.key) ?? (await this.#launchWithin(want, signal));
    if (this.#settings.mode === "single-use") void this.#prepareSpare(want);
    let released = false;
    return {
      process,
      runTool: (work) => this.#slots.get(process)?.lend(work) ?? work(),
      release: () => {
        if (released) return;
        released = true;
        void this.#takeBack(want, process);
      },
    };
  }

  /** Kills every process, including busy ones, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { give } of this.#waiting.splice(0)) give(undefined);
    for (const process of this.#all) this.#end(process);
    await Promise.all(this.#endings);
  }

  async #launchWithin(want: ProcessRequest, signal: AbortSignal): Promise<ClaudeProcess> {
    if (!this.#limit) return this.#launch(want);
    // Idle processes of this pool may hold the slots.
    this.#makeRoom(1);
    const slot = await this.#limit.slots.take({ owner: this.#limit.owner, signal });
    if (!signal.aborted && !this.#closed) return this.#launch(want, slot);
    slot.free();
    throw aborted();
  }

  #launch({ fixture, setup }: ProcessRequest, slot?: ProcessSlot): ClaudeProcess {
    this.#makeRoom(1);
    try {
      const process = this.#start(fixture, setup);
      this.#all.add(process);
      if (slot) this.#slots.set(process, slot);
      return process;
    } catch (error) {
      slot?.free();
      throw error;
    }
  }

  async #takeBack(want: ProcessRequest, process: ClaudeProcess): Promise<void> {
    if (this.#settings.mode === "off" || process.dead || this.#closed) return this.#end(process);
    if (this.#settings.mode === "single-use" || this.#isWorn(process)) {
      this.#end(process);
      return this.#prepareSpare(want);
    }
    this.#clearing.push(want.key);
    try {
      await process.reset();
    } catch {
      // The reset failed; another call could see the previous conversation.
      this.#end(process);
    }
    this.#clearing.splice(this.#clearing.indexOf(want.key), 1);
    if (process.dead) this.#nextWaiting(want.key)?.(undefined);
    else this.#park(want.key, process);
  }

  /**
   * A reset takes a twentieth of a start, so waiting is faster. A spare is started, so that the next call need not
   * wait.
   */
  async #nextCleared(want: ProcessRequest, signal: AbortSignal): Promise<ClaudeProcess | undefined> {
    const { key } = want;
    const ahead = this.#waiting.filter((waiting) => waiting.key === key).length;
    if (ahead >= this.#clearing.filter((clearing) => clearing === key).length) return undefined;
    if (!this.#starting.some((spare) => spare.key === key)) void this.#prepareSpare(want);
    const { promise, resolve } = Promise.withResolvers<ClaudeProcess | undefined>();
    const waiting = { key, give: resolve };
    const onAbort = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      resolve(undefined);
    };
    this.#waiting.push(waiting);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Starts a process ahead of need, if the pool has room. */
  async #prepareSpare(want: ProcessRequest): Promise<void> {
    if (this.#closed || this.#all.size >= this.#settings.size) return;
    const slot = this.#limit?.slots.tryTake(this.#limit.owner);
    if (this.#limit && !slot) return;
    let spare: { key: string; process: ClaudeProcess } | undefined;
    let fit = false;
    try {
      spare = { key: want.key, process: this.#launch(want, slot) };
      this.#starting.push(spare);
      await spare.process.ready();
      fit = true;
    } catch {
      // The next call will hit and report the same error.
    }
    if (!spare || !this.#starting.includes(spare)) return;
    this.#starting.splice(this.#starting.indexOf(spare), 1);
    if (fit) this.#park(spare.key, spare.process);
    else this.#end(spare.process);
  }

  #takeStarting(key: string): ClaudeProcess | undefined {
    const place = this.#starting.findIndex((spare) => spare.key === key);
    return place === -1 ? undefined : this.#starting.splice(place, 1)[0]!.process;
  }

  /** Gives a healthy process to a waiting call, or keeps it idle. */
  #park(key: string, process: ClaudeProcess): void {
    if (this.#closed || process.dead) return this.#end(process);
    const next = this.#nextWaiting(key);
    if (next) return next(process);
    const expiry = setTimeout(() => {
      this.#idle = this.#idle.filter((parked) => parked.process !== process);
      this.#end(process);
    }, this.#settings.idle);
    expiry.unref();
    process.park();
    this.#idle.push({ key, process, expiry });
    this.#makeRoom(0);
    this.#slots.get(process)?.setIdle(async () => {
      const place = this.#idle.findIndex((parked) => parked.process === process);
      if (place === -1) return;
      this.#evict(place);
      await Promise.all(this.#endings);
    });
  }

  #nextWaiting(key: string): Waiting["give"] | undefined {
    const place = this.#waiting.findIndex((waiting) => waiting.key === key);
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0]!.give;
  }

  /** Most recently used first, because its memory is warmest. */
  #unpark(key: string): ClaudeProcess | undefined {
    for (let place = this.#lastIdle(key); place !== -1; place = this.#lastIdle(key)) {
      const [{ process, expiry }] = this.#idle.splice(place, 1) as [IdleProcess];
      clearTimeout(expiry);
      this.#slots.get(process)?.setBusy();
      if (!process.dead && this.#ageOf(process) < this.#settings.maxAge) return process;
      this.#end(process);
    }
    return undefined;
  }

  #lastIdle(key: string): number {
    return this.#idle.findLastIndex((parked) => parked.key === key);
  }

  /** Evicts the longest idle processes until `more` fit. */
  #makeRoom(more: number): void {
    while (this.#all.size + more > this.#settings.size && this.#idle.length > 0) {
      this.#evict(0);
    }
  }

  #evict(place: number): void {
    const [{ process, expiry }] = this.#idle.splice(place, 1) as [IdleProcess];
    clearTimeout(expiry);
    this.#end(process);
  }

  #end(process: ClaudeProcess): void {
    if (!this.#all.delete(process)) return;
    const ending = process.kill().finally(() => {
      this.#endings.delete(ending);
      this.#slots.get(process)?.free();
      this.#slots.delete(process);
    });
    this.#endings.add(ending);
  }

  #isWorn(process: ClaudeProcess): boolean {
    return (
      process.turns >= this.#settings.maxCalls ||
      this.#ageOf(process) >= this.#settings.maxAge ||
      (process.residentMb ?? 0) >= this.#settings.maxMemoryMb
    );
  }

  #ageOf(process: ClaudeProcess): number {
    return Date.now() - process.startedAt;
  }
}

/** Hashed, because the variables include the credential. */
const fixtureKey = (fixture: ProcessFixture): string =>
  createHash("sha256").update(JSON.stringify(fixture)).digest("hex");
