import type { Config, SessionId } from "@tandem/protocol";
import { listAll, type JobRow, type SessionRow, type Store } from "@tandem/storage";
import { readUpTo } from "./capture-session.ts";

/** Interval of checks, and of full scans for changes by other processes. */
const LOOK_MS = 30_000;
const SCAN_MS = 3_600_000;
/** Backoff after failures: initial and maximum. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;

export interface MemoryCaptureParts {
  store: Pick<Store, "events" | "sessions" | "records" | "jobs">;
  space: string;
  settings: Config["memory"];
  /** Whether a session belongs to this context; the store may contain others. */
  isOurs: (session: SessionRow) => Promise<boolean>;
  /** Starts a job of kind `memory`. */
  begin: (params: { session: string }) => Promise<JobRow>;
  log: { warn(details: Record<string, unknown>, message: string): void };
  now?: () => number;
}

/**
 * Reads finished sessions: archived, or idle for the configured time, and not read completely. One at a time, longest
 * waiting first. Failures are retried with backoff. Does nothing if `memory.capture` is off.
 */
export class MemoryCapture implements AsyncDisposable {
  readonly #parts: MemoryCaptureParts;
  readonly #now: () => number;
  /** When a session is due, if nothing more happens in it. */
  readonly #due = new Map<SessionId, number>();
  readonly #stop = new AbortController();
  #unlisten: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #scanAt = 0;
  #failures = 0;
  #pausedUntil = 0;

  constructor(parts: MemoryCaptureParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  start(): void {
    const { store, settings } = this.#parts;
    if (settings.capture === "off" || this.#unlisten) return;
    this.#unlisten = store.events.onAppend((session, events) => {
      const isOver = events.some(({ event }) => event.type === "session.status_terminated");
      this.#due.set(session, isOver ? 0 : this.#now() + settings.after);
      if (isOver) this.#wake();
    });
    this.#wake();
  }

  /** Processes due sessions until there are none. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#unlisten?.();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #wake(delay = 0): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.look().finally(() => this.#wake(LOOK_MS));
    }, delay);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { log } = this.#parts;
    try {
      if (this.#now() >= this.#scanAt) await this.#scan();
      for (let next = this.#next(); next !== undefined && !this.#stop.signal.aborted; next = this.#next()) {
        await this.#read(next);
      }
    } catch (error) {
      // The store is unavailable, or another process runs such a job: the next check retries.
      if (!this.#stop.signal.aborted)
        log.warn({ error: String(error) }, "sessions could not be looked through for memories");
    }
  }

  /** The longest due session, unless a backoff is active. */
  #next(): SessionId | undefined {
    const now = this.#now();
    if (now < this.#pausedUntil) return undefined;
    const due = [...this.#due].filter(([, at]) => at <= now).toSorted(([, a], [, b]) => a - b);
    return due[0]?.[0];
  }

  async #scan(): Promise<void> {
    const { store, settings } = this.#parts;
    for await (const row of listAll((query) => store.sessions.list(query), { includeArchived: true })) {
      if (this.#stop.signal.aborted) return;
      if (isUnderWay(row) || (await this.#isRead(row.id)) || !(await this.#parts.isOurs(row))) continue;
      const at = row.archivedAt === null ? Date.parse(row.updatedAt) + settings.after : 0;
      if (!this.#due.has(row.id)) this.#due.set(row.id, at);
    }
    this.#scanAt = this.#now() + SCAN_MS;
  }

  async #isRead(session: SessionId): Promise<boolean> {
    const { store, space } = this.#parts;
    const record = await readUpTo(store.records, space, session);
    return record !== undefined && record.isAll && record.head >= (await store.events.head(session));
  }

  async #read(session: SessionId): Promise<void> {
    const { store, settings, isOurs, begin, log } = this.#parts;
    const row = await store.sessions.get(session);
    if (!row || !(await isOurs(row)) || (await this.#isRead(session))) {
      this.#due.delete(session);
      return;
    }
    if (isUnderWay(row)) {
      this.#due.set(session, this.#now() + settings.after);
      return;
    }
    const job = await begin({ session });
    for await (const _ of store.jobs.follow(job.id, 0, this.#stop.signal)) {
      // Until the job has ended.
    }
    if (this.#stop.signal.aborted) return;
    const ended = await store.jobs.get(job.id);
    if (ended?.state === "done" || ended?.state === "cancelled") {
      this.#failures = 0;
      this.#due.delete(session);
      // The session is longer than one job reads; continue.
      if (ended.state === "done" && !(await this.#isRead(session))) this.#due.set(session, this.#now());
      return;
    }
    this.#failures += 1;
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    this.#pausedUntil = this.#now() + pause;
    // Put it behind all others, so that a failing session does not block them.
    this.#due.set(session, this.#pausedUntil);
    log.warn({ session, job: job.id, error: ended?.error?.message }, "a session could not be read for memories");
  }
}

const isUnderWay = ({ status }: SessionRow): boolean => status === "running" || status === "rescheduling";
