import type { Connection } from "@tandem/client";
import {
  isId,
  project,
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
import {
  belongsToEvent,
  FIRST_PAGE,
  type LogPage,
  type LogStart,
  prefetchedStart,
  readAround,
  readPage,
  readStart,
  takePrefetched,
} from "./log-page.ts";
import { LiveValue } from "./live-value.ts";

/** Previews of everything that the server can preview. */
const PREVIEWS: QueryInput<"sessions.events.stream"> = {
  event_deltas: ["agent.message", "agent.thinking"],
  tandem: "true",
};
const AWAY_MS = 2_000;
/** The largest page the server returns, for jumps far back. */
const LARGE_PAGE = 2_000;
/** Events read or projected in one task in the background, so that input events get time in between. */
const CHUNK = 1_000;
const asThread = (id: string | null | undefined): LoggedEvent["thread"] =>
  typeof id === "string" && isId("thread", id) ? id : null;
const NO_MESSAGES: readonly Message[] = [];

/**
 * The messages of one thread: projected from the end of the log and then from the live stream. Earlier pages are loaded
 * on demand and projected together with the rest. A link far back first loads the events around its part, as an excerpt,
 * and then in the background those between the excerpt and the rest.
 */
export class LiveLog {
  readonly messages = new LiveValue<readonly Message[]>([]);
  /** Messages around a linked part, while events between them and `messages` are missing; else empty. */
  readonly excerpt = new LiveValue<readonly Message[]>(NO_MESSAGES);
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
  /** The page of the excerpt. */
  #excerptPage: LogPage | undefined;
  /** The linked part, until the log is opened. */
  readonly #part: string | undefined;
  /** The prefetched start, until `follow` is called. */
  #start: LogStart | undefined;
  #signal = new AbortController().signal;

  constructor(session: string, { thread, part }: { thread?: string; part?: string | undefined } = {}) {
    this.#session = session;
    this.#thread = thread;
    this.#part = part;
    this.#start = thread === undefined ? prefetchedStart(session) : undefined;
    if (this.#start) this.#begin(this.#start);
  }

  async follow(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    try {
      const head = await this.#open(signal);
      this.#fillGap();
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
      this.#fail(error, signal);
    }
  }

  /** Loads the events around a linked part, and then the rest from there on. */
  async loadPart(part: string): Promise<void> {
    if (this.#before === null || this.#isReading) return;
    this.#isReading = true;
    try {
      const page = await readAround(this.#session, { part, thread: this.#thread }, this.#signal);
      if (page) this.#insert(page);
      if (page && !this.#excerptPage) this.#fold();
    } finally {
      this.#isReading = false;
    }
    if (this.#excerptPage) this.#fillGap();
    else if (!this.#hasEvent(part)) await this.loadEarlier(part);
    this.hasEarlier.set(this.#before !== null);
  }

  /** Loads the previous page; with a part, all pages back to it, or everything if there is no such part. */
  async loadEarlier(part?: string): Promise<void> {
    // The gap after an excerpt is filled first.
    if (this.#before === null || this.#isReading || this.#excerptPage) return;
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
    return asThread(this.#thread);
  }

  /** The thread that an event is logged on. Events about a thread are logged on its parent. */
  #threadOf(event: SessionEvent): LoggedEvent["thread"] {
    if (this.#thread !== undefined || event.type.startsWith("session.thread_")) return this.#own;
    return "session_thread_id" in event ? asThread(event.session_thread_id) : null;
  }

  #fail(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.failure.set(error instanceof Error ? error : new Error(String(error)));
  }

  /** Shows the end of the log, or the linked part, and returns the position of the end. */
  async #open(signal: AbortSignal): Promise<number> {
    let early = this.#thread === undefined ? takePrefetched(this.#session) : undefined;
    const start = await this.#retry(signal, () => {
      const reading = early ?? readStart(this.#session, { part: this.#part, thread: this.#thread }, signal);
      early = undefined;
      return reading;
    });
    if (start !== this.#start) this.#begin(start);
    this.#start = undefined;
    return start.end.head;
  }

  /** Retries while the server is unreachable, but not after a refusal. */
  async #retry<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
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

  #begin({ end, around }: LogStart): void {
    this.#events = end.data;
    this.#waiting = end.waiting;
    this.#before = end.before;
    if (around) this.#insert(around);
    this.#fold();
    this.hasEarlier.set(this.#before !== null);
    this.hasEarlier.flush();
  }

  /** Adds a page from further back: to the loaded events if it reaches them, else as an excerpt. */
  #insert(page: LogPage): void {
    const first = this.#events[0]?.seq ?? 0;
    const earlier = page.data.filter(({ seq }) => seq < first);
    if (this.#before === null || earlier.length === 0) return;
    if (earlier.length < page.data.length) {
      this.#events = [...earlier, ...this.#events];
      this.#before = page.before;
      return;
    }
    this.#excerptPage = page;
    this.excerpt.set(project(page.data));
    this.excerpt.flush();
  }

  #fillGap(): void {
    const page = this.#excerptPage;
    if (!page || this.#isReading) return;
    const signal = this.#signal;
    this.#isReading = true;
    void this.#join(page, signal)
      .catch((error: unknown) => this.#fail(error, signal))
      .finally(() => (this.#isReading = false));
  }

  /** Loads the events between the excerpt and the rest, and replaces both by the whole. */
  async #join(page: LogPage, signal: AbortSignal): Promise<void> {
    await afterPaint();
    const last = page.data.at(-1)!.seq;
    const pages: LoggedEvent[][] = [];
    for (let before = this.#before; before !== null;) {
      const from: number = before;
      const next = await this.#retry(signal, () => this.#read(from, CHUNK, signal));
      pages.unshift(next.data.filter(({ seq }) => seq > last));
      before = (next.before ?? 0) > last ? next.before : null;
    }
    const earlier = [page.data, ...pages].flat();
    const projection = new Projection();
    for (let at = 0; at < earlier.length; at += CHUNK) {
      for (const entry of earlier.slice(at, at + CHUNK)) projection.apply(entry);
      await nextTask();
    }
    if (signal.aborted) return;
    // No pause from here on: live events change `#events` and the projection.
    this.#events = [...earlier, ...this.#events];
    this.#before = page.before;
    this.#excerptPage = undefined;
    this.excerpt.set(NO_MESSAGES);
    this.#fold(projection);
    this.excerpt.flush();
    this.hasEarlier.set(this.#before !== null);
  }

  #hasEvent(part: string): boolean {
    return this.#events.some(({ event }) => belongsToEvent(event, part));
  }

  /** Projects all events; the projection ignores those that it already has. */
  #fold(projection = new Projection()): void {
    for (const entry of this.#events) projection.apply(entry);
    for (const event of this.#waiting) projection.applyWaiting(event);
    projection.takePreviews(this.#projection);
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
    if (!("processed_at" in value)) {
      this.#projection.applyDelta({ thread: this.#own, delta: value });
    } else {
      const event = value;
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

/** In a hidden page, when it is shown. */
const afterPaint = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });

const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
