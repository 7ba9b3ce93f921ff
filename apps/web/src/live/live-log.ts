import type { Connection } from "@tandem/client";
import {
  Projection,
  type QueryInput,
  type StreamFrame,
  type Delta,
  type LoggedEvent,
  type Message,
  type SessionEvent,
} from "@tandem/protocol";
import { api, ApiError } from "../api/client.ts";
import { rest, whileSeen } from "../api/while-seen.ts";
import { prefetchedPage, FIRST_PAGE, type LogPage, readPage, takePrefetched } from "./log-page.ts";
import { LiveValue } from "./live-value.ts";

/** Previews of everything that the server can preview. */
const PREVIEWS: QueryInput<"sessions.events.stream"> = {
  event_deltas: ["agent.message", "agent.thinking"],
  tandem: "true",
};
const AWAY_MS = 2_000;
/** The largest page the server returns, for jumps far back. */
const LARGE_PAGE = 2_000;

/**
 * The messages of one thread: projected from the end of the log and then from the live stream. Earlier pages are loaded
 * on demand and projected together with the rest.
 */
export class LiveLog {
  readonly messages = new LiveValue<readonly Message[]>([]);
  readonly connection = new LiveValue<Connection>("connecting");
  /** Whether earlier events exist; undefined before the first page. */
  readonly hasEarlier = new LiveValue<boolean | undefined>(undefined);
  readonly failure = new LiveValue<Error | undefined>(undefined);
  readonly #session: string;
  readonly #thread: string | undefined;
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  #events: LoggedEvent[] = [];
  #waiting: SessionEvent[] = [];
  #projection = new Projection();
  #before: number | null = null;
  #isReading = false;
  /** The prefetched page, until `follow` is called. */
  #first: LogPage | undefined;

  constructor(session: string, thread?: string) {
    this.#session = session;
    this.#thread = thread;
    this.#first = thread === undefined ? prefetchedPage(session) : undefined;
    if (this.#first) this.#begin(this.#first);
  }

  async follow(signal: AbortSignal): Promise<void> {
    try {
      const head = await this.#open(signal);
      const params = { session_id: this.#session };
      const stream = {
        query: PREVIEWS,
        signal,
        from: String(head),
        rest,
        ...whileSeen,
        onConnection: (state: Connection) => this.connection.set(state),
        onFrame: ({ id, data }: { id: string | undefined; data: StreamFrame }) => {
          // Carries no event: the connection ends, and the next one resumes after the last event.
          if (data.type !== "tandem.resync") this.#apply(id, data);
        },
      };
      await (this.#thread === undefined
        ? api.follow("sessions.events.stream", { params, ...stream })
        : api.follow("sessions.threads.events.stream", { params: { ...params, thread_id: this.#thread }, ...stream }));
    } catch (error) {
      if (!signal.aborted) this.failure.set(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Loads the previous page; with a part, all pages back to it, or everything if there is no such part. */
  async loadEarlier(part?: string): Promise<void> {
    if (this.#before === null || this.#isReading) return;
    this.#isReading = true;
    const pages: LoggedEvent[][] = [];
    try {
      for (let isThere = false; !isThere && this.#before !== null;) {
        const page: LogPage = await this.#read(this.#before, part === undefined ? FIRST_PAGE : LARGE_PAGE);
        pages.unshift(page.data);
        this.#before = page.before;
        isThere = part === undefined || page.data.some(({ event }) => belongsToEvent(event, part));
      }
    } finally {
      this.#isReading = false;
      this.#events = [...pages.flat(), ...this.#events];
      this.#fold();
      this.hasEarlier.set(this.#before !== null);
    }
  }

  /** Shows sent events optimistically until the log has them. */
  showSent(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.#waiting.push(event);
      this.#projection.applyWaiting(event);
    }
    this.#show();
  }

  /** Calls back for each new event. Returns an unsubscribe function. */
  onEvent(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get #own(): LoggedEvent["thread"] {
    return (this.#thread ?? null) as LoggedEvent["thread"];
  }

  /** The thread that an event is logged on. Events about a thread are logged on its parent. */
  #threadOf(event: SessionEvent): LoggedEvent["thread"] {
    if (this.#thread !== undefined || event.type.startsWith("session.thread_")) return this.#own;
    return "session_thread_id" in event ? ((event.session_thread_id ?? null) as LoggedEvent["thread"]) : null;
  }

  /** Shows the end of the log and returns its position. */
  async #open(signal: AbortSignal): Promise<number> {
    const page = await this.#readFirst(signal);
    if (page !== this.#first) this.#begin(page);
    this.#first = undefined;
    return page.head;
  }

  /** Retries while the server is unreachable, but not after a refusal. */
  async #readFirst(signal: AbortSignal): Promise<LogPage> {
    let early = this.#thread === undefined ? takePrefetched(this.#session) : undefined;
    for (;;) {
      try {
        const page = early ?? this.#read(undefined, FIRST_PAGE, signal);
        early = undefined;
        return await page;
      } catch (error) {
        const isPassing = error instanceof ApiError && (error.status === 0 || error.status >= 500);
        if (!isPassing || signal.aborted) throw error;
        this.connection.set("lost");
        await rest(AWAY_MS, signal);
      }
    }
  }

  #read(before: number | undefined, limit: number, signal?: AbortSignal): Promise<LogPage> {
    return readPage(this.#session, { limit, before, thread: this.#thread }, signal);
  }

  #begin(page: LogPage): void {
    this.#events = page.data;
    this.#waiting = page.waiting;
    this.#before = page.before;
    this.#fold();
    this.hasEarlier.set(page.before !== null);
    this.hasEarlier.flush();
  }

  #fold(): void {
    const projection = new Projection();
    for (const entry of this.#events) projection.apply(entry);
    for (const event of this.#waiting) projection.applyWaiting(event);
    this.#projection = projection;
    // Events are kept to be projected again with earlier ones. Without earlier ones they can be freed.
    if (this.#before === null) this.#events = [];
    this.#show();
    // Flush first: listeners of `hasEarlier` expect all messages.
    this.messages.flush();
  }

  #show(): void {
    const projection = this.#projection;
    this.messages.setLazily(() => projection.messages);
  }

  #apply(id: string | undefined, value: SessionEvent | Delta): void {
    if (id === undefined) {
      this.#projection.applyDelta({ thread: this.#own, delta: value as Delta });
    } else {
      const event = value as SessionEvent;
      const entry = { seq: Number(id), thread: this.#threadOf(event), event };
      for (const listener of this.#listeners) listener(event);
      // The creation of a thread is shown in its parent, not in the thread itself.
      if (event.type === "session.thread_created" && event.session_thread_id === this.#own) return;
      if (this.#before !== null) this.#events.push(entry);
      this.#waiting = this.#waiting.filter((waiting) => waiting.id !== event.id);
      this.#projection.apply(entry);
    }
    this.#show();
  }
}

/** Part ids start with their event's id; parts of subagents have the thread's id. */
const belongsToEvent = (event: SessionEvent, part: string): boolean =>
  part === event.id ||
  part.startsWith(`${event.id}.`) ||
  (event.type === "session.thread_created" && event.session_thread_id === part) ||
  (event.type === "workflow_run.created" && event.workflow_run_id === part);
