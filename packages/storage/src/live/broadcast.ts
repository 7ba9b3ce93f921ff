import type { LoggedEvent, SessionId } from "@tandem/protocol";
import type { ChangeNotice, Database } from "../database.ts";
import { Follower, type Sequenced, type ReadAfter } from "./follower.ts";
import { readChanges } from "../operations/changes.ts";
import type { LogEntry } from "../rows/log-entry.ts";

type AppendListener = (session: SessionId, events: readonly LoggedEvent[]) => void;
type PutListener = (session: SessionId) => void;
type GrowthListener = (session: SessionId | undefined, isGone: boolean) => void;

interface Tail {
  followers: Set<Follower>;
  readAfter: ReadAfter;
  /** Highest sequence number known to be committed. */
  target: number;
  pulling: boolean;
}

/** Bounds memory: beyond this the marks are cleared. At worst a listener is called twice. */
const MAX_MARKS = 10_000;
const RETRY_MS = 1_000;

/** Tells listeners in this process about commits: its own at once, others' when the database notifies. */
export class Broadcast {
  readonly #database: Database;
  readonly #tails = new Map<string, Tail>();
  readonly #appendListeners = new Set<AppendListener>();
  readonly #putListeners = new Set<PutListener>();
  readonly #growthListeners = new Set<GrowthListener>();
  /** Highest position of an input queue already reported, by session. */
  readonly #marks = new Map<string, number>();
  /** Number of appends that this process has under way, by session. */
  readonly #writing = new Map<string, number>();
  #watching = false;
  #isResyncing = false;
  #resyncAgain = false;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  follow<E extends Sequenced>(
    session: string,
    after: number,
    signal: AbortSignal,
    readAfter: ReadAfter<E>,
  ): AsyncIterableIterator<E[]> {
    const tail: Tail = this.#tails.get(session) ?? { followers: new Set(), readAfter, target: 0, pulling: false };
    const stop = (): void => follower.stop();
    const follower = new Follower<E>(after, readAfter, () => {
      signal.removeEventListener("abort", stop);
      tail.followers.delete(follower);
      if (tail.followers.size === 0 && this.#tails.get(session) === tail) this.#tails.delete(session);
      this.#watch();
    });
    if (signal.aborted || this.#closed) {
      follower.stop();
      return follower;
    }
    signal.addEventListener("abort", stop);
    tail.followers.add(follower);
    this.#tails.set(session, tail);
    this.#watch();
    return follower;
  }

  onAppend(listener: AppendListener): () => void {
    this.#appendListeners.add(listener);
    return () => void this.#appendListeners.delete(listener);
  }

  onPut(listener: PutListener): () => void {
    this.#putListeners.add(listener);
    this.#watch();
    return () => {
      this.#putListeners.delete(listener);
      this.#watch();
    };
  }

  onGrowth(listener: GrowthListener): () => void {
    this.#growthListeners.add(listener);
    this.#watch();
    return () => {
      this.#growthListeners.delete(listener);
      this.#watch();
    };
  }

  /**
   * An append of this process, with its call of `appended`. The database notifies of a commit before the append resolves: reading
   * the log then would fetch events that this process is about to hand over.
   */
  async during<T>(session: string, append: () => Promise<T>): Promise<T> {
    this.#writing.set(session, (this.#writing.get(session) ?? 0) + 1);
    try {
      return await append();
    } finally {
      const left = this.#writing.get(session)! - 1;
      if (left > 0) this.#writing.set(session, left);
      else this.#writing.delete(session);
      this.#reaches(session, 0);
    }
  }

  /** Call after a commit of this process. */
  appended(session: SessionId, entries: readonly LogEntry[]): void {
    const events = entries.map(({ logged }) => logged);
    for (const listener of this.#appendListeners) guarded(() => listener(session, events));
    this.push(session, entries);
  }

  /** Passes events committed by this process to the followers of this log only. */
  push(session: string, events: readonly Sequenced[]): void {
    for (const follower of this.#tails.get(session)?.followers ?? []) follower.push(events);
  }

  /** The log is complete: followers re-read it and end. */
  ended(session: string): void {
    for (const follower of this.#tails.get(session)?.followers ?? []) follower.reread();
  }

  /** New input up to this position, put by any process. */
  put(session: string, position: number): void {
    if (position <= (this.#marks.get(session) ?? 0)) return;
    if (this.#marks.size >= MAX_MARKS) this.#marks.clear();
    this.#marks.set(session, position);
    for (const listener of this.#putListeners) guarded(() => listener(session as SessionId));
  }

  gone(session: string): void {
    this.#marks.delete(session);
    for (const follower of this.#tails.get(session)?.followers ?? []) follower.finish();
  }

  close(): void {
    this.#closed = true;
    for (const { followers } of this.#tails.values()) for (const follower of followers) follower.stop();
    this.#putListeners.clear();
    this.#growthListeners.clear();
    this.#watch();
  }

  /** Watching has a cost (a connection or polling), so it is on only while there are listeners. */
  #watch(): void {
    const isWanted = this.#tails.size + this.#putListeners.size + this.#growthListeners.size > 0;
    if (isWanted === this.#watching) return;
    this.#watching = isWanted;
    this.#database.watch(isWanted ? (notice) => this.#onNotice(notice) : undefined);
  }

  #onNotice(notice: ChangeNotice): void {
    switch (notice.type) {
      case "log":
        this.#grown(notice.session, false);
        return this.#reaches(notice.session, notice.seq);
      case "inbox":
        return this.put(notice.session, notice.position);
      case "gone":
        this.#grown(notice.session, true);
        return this.gone(notice.session);
      case "ended":
        return this.ended(notice.session);
      case "resync":
        this.#grown(undefined, false);
        return void this.#resync();
    }
  }

  #grown(session: string | undefined, isGone: boolean): void {
    for (const listener of this.#growthListeners) guarded(() => listener(session as SessionId | undefined, isGone));
  }

  async #resync(): Promise<void> {
    this.#resyncAgain = this.#isResyncing;
    if (this.#isResyncing) return;
    this.#isResyncing = true;
    try {
      const sessions = [...this.#tails.keys()];
      const { heads, ended, waiting } = await this.#database.read(readChanges, sessions);
      const found = new Map(heads.map(({ session, seq }) => [session, seq]));
      for (const session of sessions) {
        const seq = found.get(session);
        if (seq === undefined) this.gone(session);
        else this.#reaches(session, seq);
      }
      for (const { id } of ended) this.ended(id);
      for (const { session, position } of waiting) this.put(session, position);
    } catch {
      // The database is unavailable: retry later. Direct calls report the error themselves.
      if (this.#watching) setTimeout(() => void this.#resync(), RETRY_MS).unref();
    }
    this.#isResyncing = false;
    if (this.#resyncAgain) await this.#resync();
  }

  #reaches(session: string, seq: number): void {
    const tail = this.#tails.get(session);
    if (!tail) return;
    tail.target = Math.max(tail.target, seq);
    if (!tail.pulling && !this.#writing.has(session)) void this.#pull(tail);
  }

  /** Reads once for all followers at the same position; nearly all are. */
  async #pull(tail: Tail): Promise<void> {
    tail.pulling = true;
    try {
      for (;;) {
        const lacking = [...tail.followers].filter(({ reach }) => reach === undefined || reach < tail.target);
        const front = Math.max(...lacking.map(({ reach }) => reach ?? -1));
        for (const follower of lacking) if (follower.reach !== front) follower.reread();
        if (lacking.length === 0 || front === -1) break;
        const part = await tail.readAfter(front);
        if (!part?.events.length) break;
        for (const follower of tail.followers) follower.push(part.events);
      }
    } catch {
      for (const follower of tail.followers) follower.reread();
    } finally {
      tail.pulling = false;
    }
  }
}

/** An error in a listener must not fail the append: the events are stored. */
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
