import { createHash } from "node:crypto";
import type { ClaudeProcess, ProcessFixture, TurnSetup } from "./claude-process.ts";

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

interface Parked {
  process: ClaudeProcess;
  expiry: NodeJS.Timeout;
}

/**
 * Warm Claude Code processes, keyed by what is fixed in a process. A call takes one that is idle, waits for one that is
 * just being cleared, or starts one; it gives it back, and in between nobody else has it. Idle ones give way to processes
 * that are needed now, so that the total stays within `size` or the number of calls under way, whichever is larger.
 */
export class ProcessPool {
  readonly #settings: PoolSettings;
  readonly #start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess;
  /** Least recently used first. */
  readonly #idle = new Map<string, Parked[]>();
  /** Processes that are being cleared, by key, and the calls that wait for one of them. */
  readonly #clearing = new Map<string, number>();
  readonly #waiting = new Map<string, ((process: ClaudeProcess | undefined) => void)[]>();
  /** Spares that are starting, by key. A call that finds nothing better takes one: it is ahead of a fresh start. */
  readonly #preparing = new Map<string, ClaudeProcess[]>();
  readonly #all = new Set<ClaudeProcess>();
  readonly #endings = new Set<Promise<void>>();
  #closed = false;

  constructor(settings: PoolSettings, start: (fixture: ProcessFixture, setup: TurnSetup) => ClaudeProcess) {
    this.#settings = settings;
    this.#start = start;
  }

  async take(fixture: ProcessFixture, setup: TurnSetup): Promise<Lease> {
    const key = fixtureKey(fixture);
    const process =
      this.#unpark(key) ??
      (await this.#nextCleared(key, fixture, setup)) ??
      this.#preparing.get(key)?.shift() ??
      this.#launch(fixture, setup);
    if (this.#settings.mode === "single-use") void this.#prepareSpare(key, fixture, setup);
    let released = false;
    return {
      process,
      release: () => {
        if (released) return;
        released = true;
        void this.#takeBack(key, process, fixture, setup);
      },
    };
  }

  /** Ends every process, busy ones included, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const process of this.#all) this.#end(process);
    await Promise.all(this.#endings);
  }

  #launch(fixture: ProcessFixture, setup: TurnSetup): ClaudeProcess {
    if (this.#all.size >= this.#settings.size) this.#evictOldest();
    const process = this.#start(fixture, setup);
    this.#all.add(process);
    return process;
  }

  async #takeBack(key: string, process: ClaudeProcess, fixture: ProcessFixture, setup: TurnSetup): Promise<void> {
    if (this.#settings.mode === "off" || process.dead || this.#closed) return this.#end(process);
    if (this.#settings.mode === "single-use" || this.#isWorn(process)) {
      this.#end(process);
      return this.#prepareSpare(key, fixture, setup);
    }
    this.#clearing.set(key, (this.#clearing.get(key) ?? 0) + 1);
    try {
      await process.reset();
    } catch {
      // Whatever kept it from forgetting, it must not serve another call. The next one starts afresh.
      this.#end(process);
    }
    this.#clearing.set(key, (this.#clearing.get(key) ?? 1) - 1);
    const next = this.#waiting.get(key)?.shift();
    if (next) next(process.dead ? undefined : process);
    else this.#park(key, process);
  }

  /** Clearing takes a twentieth of a start, so it is worth waiting for; a spare is started so that the next need not. */
  #nextCleared(key: string, fixture: ProcessFixture, setup: TurnSetup): Promise<ClaudeProcess | undefined> | undefined {
    const waiting = this.#waiting.get(key) ?? [];
    if (waiting.length >= (this.#clearing.get(key) ?? 0)) return undefined;
    this.#waiting.set(key, waiting);
    if (!this.#preparing.get(key)?.length) void this.#prepareSpare(key, fixture, setup);
    return new Promise((resolve) => waiting.push(resolve));
  }

  /** Starts a process ahead of need, if there is room for it. */
  async #prepareSpare(key: string, fixture: ProcessFixture, setup: TurnSetup): Promise<void> {
    if (this.#closed || this.#all.size >= this.#settings.size) return;
    const process = this.#launch(fixture, setup);
    const preparing = this.#preparing.get(key) ?? [];
    this.#preparing.set(key, preparing);
    preparing.push(process);
    // One that cannot start is ended here; the call that needs one will meet the same trouble and report it.
    const fit = await process.ready().then(
      () => true,
      () => false,
    );
    const place = preparing.indexOf(process);
    if (place === -1) return;
    preparing.splice(place, 1);
    if (fit) this.#park(key, process);
    else this.#end(process);
  }

  #park(key: string, process: ClaudeProcess): void {
    if (this.#closed || process.dead) return this.#end(process);
    const expiry = setTimeout(() => {
      this.#forget(key, process);
      this.#end(process);
    }, this.#settings.idle);
    expiry.unref();
    process.park();
    const parked = this.#idle.get(key) ?? [];
    this.#idle.delete(key);
    this.#idle.set(key, [...parked, { process, expiry }]);
    while (this.#idleCount() > this.#settings.size) this.#evictOldest();
  }

  #unpark(key: string): ClaudeProcess | undefined {
    for (let entry = this.#idle.get(key)?.at(-1); entry; entry = this.#idle.get(key)?.at(-1)) {
      clearTimeout(entry.expiry);
      this.#forget(key, entry.process);
      if (!entry.process.dead && this.#ageOf(entry.process) < this.#settings.maxAge) return entry.process;
      this.#end(entry.process);
    }
    return undefined;
  }

  #evictOldest(): void {
    for (const [key, [oldest]] of this.#idle) {
      if (!oldest) continue;
      clearTimeout(oldest.expiry);
      this.#forget(key, oldest.process);
      this.#end(oldest.process);
      return;
    }
  }

  #forget(key: string, process: ClaudeProcess): void {
    const rest = (this.#idle.get(key) ?? []).filter((entry) => entry.process !== process);
    if (rest.length > 0) this.#idle.set(key, rest);
    else this.#idle.delete(key);
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

  #idleCount(): number {
    let count = 0;
    for (const parked of this.#idle.values()) count += parked.length;
    return count;
  }
}

/** Hashed, because variables hold the credential. */
const fixtureKey = (fixture: ProcessFixture): string =>
  createHash("sha256").update(JSON.stringify(fixture)).digest("hex");
