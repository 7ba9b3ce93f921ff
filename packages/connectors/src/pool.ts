import { ConnectionError } from "./connection-error.ts";

/** A database connection, or a process that has one. */
export interface Pooled {
  /** False once it is known to be unusable. */
  readonly isAlive: boolean;
  /** Ends it at once, aborting its query. */
  end(): Promise<void> | void;
}

const IDLE_MS = 60_000;

interface Limits {
  timeoutMs: number;
  signal?: AbortSignal;
}

/**
 * A few lazily opened connections, each for one query at a time. A query's deadline includes its wait for a connection.
 * A timed-out query ends its connection. A connection lost while idle is replaced transparently, because read-only
 * queries are safe to retry.
 */
export class Pool<R extends Pooled> {
  readonly #open: () => Promise<R>;
  readonly #size: number;
  readonly #idleMs: number;
  /** Idle connections with their expiry timers. */
  readonly #idle = new Map<R, NodeJS.Timeout>();
  readonly #busy = new Set<R>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #isClosed = false;

  constructor(open: () => Promise<R>, options: { size: number; idleMs?: number }) {
    this.#open = open;
    this.#size = options.size;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  async use<T>(limits: Limits, work: (resource: R) => Promise<T>): Promise<T> {
    limits.signal?.throwIfAborted();
    const { promise: over, reject } = Promise.withResolvers<never>();
    let isOver = false;
    let current: R | undefined;
    const stop = (reason: unknown): void => {
      isOver = true;
      reject(reason);
      if (current) void this.#drop(current);
    };
    const timer = setTimeout(() => stop(timedOut(limits.timeoutMs)), limits.timeoutMs);
    const onAbort = (): void => stop(limits.signal?.reason);
    limits.signal?.addEventListener("abort", onAbort, { once: true });

    const attempt = async (mayRepeat: boolean): Promise<T> => {
      const resource = mayRepeat ? this.#takeIdle() : undefined;
      const used = resource ?? (await this.#open());
      this.#busy.add(used);
      current = used;
      if (isOver || this.#isClosed) {
        await this.#drop(used);
        throw closed();
      }
      try {
        return await work(used);
      } catch (error) {
        if (isOver || this.#isClosed || used.isAlive || !resource) throw error;
        return await attempt(false);
      } finally {
        await this.#giveBack(used);
      }
    };
    const run = async (): Promise<T> => {
      if (!(await this.#enter(() => isOver))) throw closed();
      try {
        const result = attempt(true);
        result.catch(() => {});
        // Release the slot at the end, even if the work has not noticed the abort.
        return await Promise.race([result, over]);
      } finally {
        this.#leave();
      }
    };
    try {
      const result = run();
      result.catch(() => {});
      return await Promise.race([result, over]);
    } finally {
      clearTimeout(timer);
      limits.signal?.removeEventListener("abort", onAbort);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#idle.keys(), ...this.#busy].map((resource) => this.#drop(resource)));
  }

  /** Waits for a slot; false if the caller has given up. */
  async #enter(isOver: () => boolean): Promise<boolean> {
    while (this.#taken >= this.#size && !this.#isClosed) {
      await new Promise<void>((wake) => this.#waiting.push(wake));
      if (!isOver()) continue;
      this.#waiting.shift()?.();
      return false;
    }
    if (this.#isClosed) return false;
    this.#taken += 1;
    return true;
  }

  #leave(): void {
    this.#taken -= 1;
    this.#waiting.shift()?.();
  }

  #takeIdle(): R | undefined {
    for (const [resource, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(resource);
      if (resource.isAlive) return resource;
      void this.#drop(resource);
    }
  }

  async #giveBack(resource: R): Promise<void> {
    if (!this.#busy.has(resource)) return;
    if (!resource.isAlive || this.#isClosed) return await this.#drop(resource);
    this.#busy.delete(resource);
    this.#idle.set(resource, setTimeout(() => void this.#drop(resource), this.#idleMs).unref());
  }

  async #drop(resource: R): Promise<void> {
    this.#busy.delete(resource);
    clearTimeout(this.#idle.get(resource));
    this.#idle.delete(resource);
    await resource.end();
  }
}

function timedOut(timeoutMs: number): ConnectionError {
  return new ConnectionError("query_timeout", `The query did not end within ${timeoutMs / 1000} s.`, {
    fix: "Read less (a WHERE, a LIMIT, fewer joins), or allow it more time.",
  });
}

function closed(): ConnectionError {
  return new ConnectionError("connection_failed", "The connection has been closed.");
}
