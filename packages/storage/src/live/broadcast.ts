import type { LoggedEvent, SessionId } from "@tandem/protocol";
import type { Bell, Database } from "../database.ts";
import { Follower, type Numbered, type ReadOn } from "./follower.ts";
import { whatsNew } from "../operations/whats-new.ts";

type AppendListener = (session: SessionId, events: readonly LoggedEvent[]) => void;
type PutListener = (session: SessionId) => void;
type GrowthListener = (session: SessionId | undefined, isGone: boolean) => void;

interface Tail {
  followers: Set<Follower>;
  readOn: ReadOn;
  /** Where the log is known to reach. */
  target: number;
  pulling: boolean;
}

/** Beyond this, old marks are dropped; the worst that happens is a listener called twice. */
const MOST_MARKS = 10_000;
const RETRY_MS = 1_000;

/** Says to whoever listens in this process what was committed: here, at once; elsewhere, when the database's bell rings. */
export class Broadcast {
  readonly #database: Database;
  readonly #tails = new Map<string, Tail>();
  readonly #appendListeners = new Set<AppendListener>();
  readonly #putListeners = new Set<PutListener>();
  readonly #growthListeners = new Set<GrowthListener>();
  /** Up to which position of an inbox listeners have been called. */
  readonly #marks = new Map<string, number>();
  #watching = false;
  #isLooking = false;
  #lookAgain = false;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  follow<E extends Numbered>(
    session: string,
    after: number,
    signal: AbortSignal,
    readOn: ReadOn<E>,
  ): AsyncIterable<E[]> {
    const tail: Tail = this.#tails.get(session) ?? { followers: new Set(), readOn, target: 0, pulling: false };
    const stop = (): void => follower.stop();
    const follower = new Follower<E>(after, readOn, () => {
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

  /** Committed by this process. */
  appended(session: SessionId, events: readonly LoggedEvent[]): void {
    for (const listener of this.#appendListeners) guarded(() => listener(session, events));
    this.hand(session, events);
  }

  /** Committed by this process, for those alone who follow this log. */
  hand(session: string, events: readonly Numbered[]): void {
    for (const follower of this.#tails.get(session)?.followers ?? []) follower.hand(events);
  }

  /** Whoever follows finds out from the log that there is nothing more to come. */
  ended(session: string): void {
    for (const follower of this.#tails.get(session)?.followers ?? []) follower.look();
  }

  /** Put, here or elsewhere, up to this position. */
  put(session: string, position: number): void {
    if (position <= (this.#marks.get(session) ?? 0)) return;
    if (this.#marks.size >= MOST_MARKS) this.#marks.clear();
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

  /** The bell costs something, so it is on only while somebody listens. */
  #watch(): void {
    const isWanted = this.#tails.size + this.#putListeners.size + this.#growthListeners.size > 0;
    if (isWanted === this.#watching) return;
    this.#watching = isWanted;
    this.#database.watch(isWanted ? (bell) => this.#heard(bell) : undefined);
  }

  #heard(bell: Bell): void {
    switch (bell.type) {
      case "log":
        this.#grown(bell.session, false);
        return this.#reaches(bell.session, bell.seq);
      case "inbox":
        return this.put(bell.session, bell.position);
      case "gone":
        this.#grown(bell.session, true);
        return this.gone(bell.session);
      case "ended":
        return this.ended(bell.session);
      case "look":
        this.#grown(undefined, false);
        return void this.#look();
    }
  }

  #grown(session: string | undefined, isGone: boolean): void {
    for (const listener of this.#growthListeners) guarded(() => listener(session as SessionId | undefined, isGone));
  }

  async #look(): Promise<void> {
    this.#lookAgain = this.#isLooking;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const sessions = [...this.#tails.keys()];
      const { heads, ended, waiting } = await this.#database.read(whatsNew, sessions);
      const found = new Map(heads.map(({ session, seq }) => [session, seq]));
      for (const session of sessions) {
        const seq = found.get(session);
        if (seq === undefined) this.gone(session);
        else this.#reaches(session, seq);
      }
      for (const { id } of ended) this.ended(id);
      for (const { session, position } of waiting) this.put(session, position);
    } catch {
      // Unavailable: look again later. Whoever asks for something themselves is told.
      if (this.#watching) setTimeout(() => void this.#look(), RETRY_MS).unref();
    }
    this.#isLooking = false;
    if (this.#lookAgain) await this.#look();
  }

  #reaches(session: string, seq: number): void {
    const tail = this.#tails.get(session);
    if (!tail) return;
    tail.target = Math.max(tail.target, seq);
    if (!tail.pulling) void this.#pull(tail);
  }

  /** Reads once for all followers that are at the same place, as nearly all of them are. */
  async #pull(tail: Tail): Promise<void> {
    tail.pulling = true;
    try {
      for (;;) {
        const lacking = [...tail.followers].filter(({ reach }) => reach === undefined || reach < tail.target);
        const front = Math.max(...lacking.map(({ reach }) => reach ?? -1));
        for (const follower of lacking) if (follower.reach !== front) follower.look();
        if (lacking.length === 0 || front === -1) break;
        const part = await tail.readOn(front);
        if (!part?.events.length) break;
        for (const follower of tail.followers) follower.hand(part.events);
      }
    } catch {
      for (const follower of tail.followers) follower.look();
    } finally {
      tail.pulling = false;
    }
  }
}

/** A listener's fault is not the writer's: the events are stored. */
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
