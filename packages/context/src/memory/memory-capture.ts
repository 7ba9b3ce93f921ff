import type { Config, SessionId } from "@tandem/protocol";
import type { JobRow, SessionRow, Store } from "@tandem/storage";
import { readUpTo } from "./capture-session.ts";

/** How often is looked, and how often all sessions are looked through, for what other processes have done. */
const LOOK_MS = 30_000;
const SCAN_MS = 3_600_000;
const PAGE = 100;
/** After a failure, and at most, when one follows another. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

export interface MemoryCaptureParts {
  store: Pick<Store, "events" | "sessions" | "records" | "jobs">;
  space: string;
  settings: Config["memory"];
  /** Whether a session is this context's: others' may be in the same store, and are nothing to us. */
  isOurs: (session: SessionRow) => Promise<boolean>;
  /** Begins a job of the kind `memory`. */
  begin: (params: { session: string }) => Promise<JobRow>;
  log: { warn(details: Record<string, unknown>, message: string): void };
  now?: () => number;
}

/**
 * Has sessions read that are over: archived, or idle for as long as the setting says, and not read up to their end. One at
 * a time, the longest waiting first. What fails is tried again, later and later; where `memory.capture` is off, nothing is.
 */
export class MemoryCapture implements AsyncDisposable {
  readonly #parts: MemoryCaptureParts;
  readonly #now: () => number;
  /** When a session is to be read, if nothing more happens in it. */
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

  /** Looks for what is due, and has it read, until nothing is. */
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
      // A store that is away, or a job of this kind that somebody else has under way: the next look is soon enough.
      if (!this.#stop.signal.aborted)
        log.warn({ error: String(error) }, "sessions could not be looked through for memories");
    }
  }

  /** The longest due, unless a failure is too near. */
  #next(): SessionId | undefined {
    const now = this.#now();
    if (now < this.#pausedUntil) return undefined;
    const due = [...this.#due].filter(([, at]) => at <= now).toSorted(([, a], [, b]) => a - b);
    return due[0]?.[0];
  }

  async #scan(): Promise<void> {
    const { store, settings } = this.#parts;
    for (let cursor: string | undefined; ;) {
      const page = await store.sessions.list({ limit: PAGE, includeArchived: true, ...(cursor && { cursor }) });
      for (const row of page.data) {
        if (this.#stop.signal.aborted) return;
        if (isUnderWay(row) || (await this.#isRead(row.id)) || !(await this.#parts.isOurs(row))) continue;
        const at = row.archivedAt === null ? Date.parse(row.updatedAt) + settings.after : 0;
        if (!this.#due.has(row.id)) this.#due.set(row.id, at);
      }
      if (page.next === null) break;
      cursor = page.next;
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
      // Until it has ended.
    }
    if (this.#stop.signal.aborted) return;
    const ended = await store.jobs.get(job.id);
    if (ended?.state === "done" || ended?.state === "cancelled") {
      this.#failures = 0;
      this.#due.delete(session);
      // A session that is longer than one job reads.
      if (ended.state === "done" && !(await this.#isRead(session))) this.#due.set(session, this.#now());
      return;
    }
    this.#failures += 1;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    this.#pausedUntil = this.#now() + pause;
    // Behind all others: what fails by itself does not keep them waiting.
    this.#due.set(session, this.#pausedUntil);
    log.warn({ session, job: job.id, error: ended?.error?.message }, "a session could not be read for memories");
  }
}

const isUnderWay = ({ status }: SessionRow): boolean => status === "running" || status === "rescheduling";
