import { createHash } from "node:crypto";
import type { ClaudeProcess, ProcessFixture } from "./claude-process.ts";
import { aborted } from "./process-errors.ts";
import type { TurnSetup } from "./turn.ts";

export interface PoolSettings {
  mode: "reuse" | "single-use" | "off";
  size: number;
  maxCalls: number;
  maxAge: number;
  maxMemoryMb: number;
  idle: number;
}

/** A process that belongs to one call until it is given back. */
export interface Lease {
  readonly process: ClaudeProcess;
  /** Gives it back. What is still fit is cleared for the next call; the rest is ended. Never rejects, never waits. */
  release(): void;
}

/** What a call wants of a process. */
interface Want {
  key: string;
  fixture: ProcessFixture;
  setup: TurnSetup;
}

interface Parked {
  key: string;
  process: ClaudeProcess;
  expiry: NodeJS.Timeout;
}

interface Waiting {
  key: string;
  /** With nothing where the process that was waited for is lost. */
  give: (process: ClaudeProcess | undefined) => void;
}

/**
 * Warm Claude Code processes, keyed by what is fixed in a process. A call takes one that is idle, waits for one that is
 * just being cleared, takes one that is starting, or starts one; it gives it back, and in between nobody else has it.
 * Idle ones give way to processes that are needed now, so that the total stays within `size` or the number of calls
 * under way, whichever is larger.
 */
export class ProcessPool {
  readonly #settings: PoolSettings;
  readonly #start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess;
  /** Longest idle first. */
  #idle: Parked[] = [];
  /** Keys of processes that are being cleared, and the calls that wait for them. */
  #clearing: string[] = [];
  #waiting: Waiting[] = [];
  /** Spares that are starting. A call that finds nothing better takes one: it is ahead of a fresh start. */
  #starting: { key: string; process: ClaudeProcess }[] = [];
  readonly #all = new Set<ClaudeProcess>();
  readonly #endings = new Set<Promise<void>>();
  #closed = false;

  constructor(settings: PoolSettings, start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess) {
    this.#settings = settings;
    this.#start = start;
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
    const process = found ?? this.#takeStarting(want.key) ?? this.#launch(want);
    if (this.#settings.mode === "single-use") void this.#prepareSpare(want);
    let released = false;
    return {
      process,
      release: () => {
        if (released) return;
        released = true;
        void this.#takeBack(want, process);
      },
    };
  }

  /** Ends every process, busy ones included, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { give } of this.#waiting.splice(0)) give(undefined);
    for (const process of this.#all) this.#end(process);
    await Promise.all(this.#endings);
  }

  #launch({ fixture, setup }: Want): ClaudeProcess {
    this.#makeRoom(1);
    const process = this.#start(fixture, setup);
    this.#all.add(process);
    return process;
  }

  async #takeBack(want: Want, process: ClaudeProcess): Promise<void> {
    if (this.#settings.mode === "off" || process.dead || this.#closed) return this.#end(process);
    if (this.#settings.mode === "single-use" || this.#isWorn(process)) {
      this.#end(process);
      return this.#prepareSpare(want);
    }
    this.#clearing.push(want.key);
    try {
      await process.reset();
    } catch {
      // Whatever kept it from forgetting, it must not serve another call.
      this.#end(process);
    }
    this.#clearing.splice(this.#clearing.indexOf(want.key), 1);
    if (process.dead) this.#nextWaiting(want.key)?.(undefined);
    else this.#park(want.key, process);
  }

  /** Clearing takes a twentieth of a start, so it is worth waiting for; a spare is started so that the next need not. */
  async #nextCleared(want: Want, signal: AbortSignal): Promise<ClaudeProcess | undefined> {
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

  /** Starts a process ahead of need, if there is room for it. */
  async #prepareSpare(want: Want): Promise<void> {
    if (this.#closed || this.#all.size >= this.#settings.size) return;
    let spare: { key: string; process: ClaudeProcess } | undefined;
    let fit = false;
    try {
      spare = { key: want.key, process: this.#launch(want) };
      this.#starting.push(spare);
      await spare.process.ready();
      fit = true;
    } catch {
      // The call that needs one will meet the same trouble and report it.
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

  /** Gives a process that is fit for use to a call that waits, or keeps it. */
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
  }

  #nextWaiting(key: string): Waiting["give"] | undefined {
    const place = this.#waiting.findIndex((waiting) => waiting.key === key);
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0]!.give;
  }

  /** The one that was used last, because its memory is warmest. */
  #unpark(key: string): ClaudeProcess | undefined {
    for (let place = this.#lastIdle(key); place !== -1; place = this.#lastIdle(key)) {
      const [{ process, expiry }] = this.#idle.splice(place, 1) as [Parked];
      clearTimeout(expiry);
      if (!process.dead && this.#ageOf(process) < this.#settings.maxAge) return process;
      this.#end(process);
    }
    return undefined;
  }

  #lastIdle(key: string): number {
    return this.#idle.findLastIndex((parked) => parked.key === key);
  }

  /** Ends those that have idled longest until there is room for so many more. */
  #makeRoom(more: number): void {
    while (this.#all.size + more > this.#settings.size && this.#idle.length > 0) {
      const { process, expiry } = this.#idle.shift()!;
      clearTimeout(expiry);
      this.#end(process);
    }
  }

  #end(process: ClaudeProcess): void {
    if (!this.#all.delete(process)) return;
    const ending = process.kill().finally(() => this.#endings.delete(ending));
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

/** Hashed, because variables hold the credential. */
const fixtureKey = (fixture: ProcessFixture): string =>
  createHash("sha256").update(JSON.stringify(fixture)).digest("hex");
