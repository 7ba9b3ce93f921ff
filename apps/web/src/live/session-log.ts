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
import { earlyPage, FIRST_PAGE, type LogPage, readPage, takeEarly } from "./first-page.ts";
import { LiveValue } from "./live-value.ts";

/** Previews of everything that the server can preview. */
const PREVIEWS: QueryInput<"sessions.events.stream"> = {
  event_deltas: ["agent.message", "agent.thinking"],
  tandem: "true",
};
const AWAY_MS = 2_000;
/** Of who looks for something far back: as much at once as the server gives. */
const LARGE_PAGE = 2_000;

/**
 * What a person sees of one thread of a session: the end of its log, folded here, and from then on whatever happens. What
 * came earlier is read when somebody goes there, and folded together with the rest.
 */
export class SessionLog {
  readonly messages = new LiveValue<readonly Message[]>([]);
  readonly connection = new LiveValue<Connection>("connecting");
  /** Undefined before the first page; whether there is more before what is shown. */
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
  /** What it began with, until it is followed. */
  #first: LogPage | undefined;

  constructor(session: string, thread?: string) {
    this.#session = session;
    this.#thread = thread;
    this.#first = thread === undefined ? earlyPage(session) : undefined;
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

  /** Reads what came before; with a part, all that came since it, or everything where there is no such part. */
  async goBack(part?: string): Promise<void> {
    if (this.#before === null || this.#isReading) return;
    this.#isReading = true;
    const pages: LoggedEvent[][] = [];
    try {
      for (let isThere = false; !isThere && this.#before !== null;) {
        const page: LogPage = await this.#read(this.#before, part === undefined ? FIRST_PAGE : LARGE_PAGE);
        pages.unshift(page.data);
        this.#before = page.before;
        isThere = part === undefined || page.data.some(({ event }) => isBehind(event, part));
      }
    } finally {
      this.#isReading = false;
      this.#events = [...pages.flat(), ...this.#events];
      this.#fold();
      this.hasEarlier.set(this.#before !== null);
    }
  }

  /** What was just sent, until the log has it. */
  sent(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.#waiting.push(event);
      this.#projection.applyWaiting(event);
    }
    this.#show();
  }

  /** Calls back for each event that comes from now on; returns what ends that. */
  heard(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get #own(): LoggedEvent["thread"] {
    return (this.#thread ?? null) as LoggedEvent["thread"];
  }

  /** The thread on which the log has an event. What is said about a thread stands where it was called from. */
  #threadOf(event: SessionEvent): LoggedEvent["thread"] {
    if (this.#thread !== undefined || event.type.startsWith("session.thread_")) return this.#own;
    return "session_thread_id" in event ? ((event.session_thread_id ?? null) as LoggedEvent["thread"]) : null;
  }

  /** Shows the end of the log, and says where that is. */
  async #open(signal: AbortSignal): Promise<number> {
    const page = await this.#readFirst(signal);
    if (page !== this.#first) this.#begin(page);
    this.#first = undefined;
    return page.head;
  }

  /** A server that is away is waited for; what it says itself is not asked for twice. */
  async #readFirst(signal: AbortSignal): Promise<LogPage> {
    let early = this.#thread === undefined ? takeEarly(this.#session) : undefined;
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
    // Events are kept to be folded again with what came before them: once nothing did, they need not be.
    if (this.#before === null) this.#events = [];
    this.#show();
    // Who hears that there is nothing earlier must have all of it.
    this.messages.flush();
  }

  #show(): void {
    const projection = this.#projection;
    this.messages.setLater(() => projection.messages);
  }

  #apply(id: string | undefined, value: SessionEvent | Delta): void {
    if (id === undefined) {
      this.#projection.applyDelta({ thread: this.#own, delta: value as Delta });
    } else {
      const event = value as SessionEvent;
      const entry = { seq: Number(id), thread: this.#threadOf(event), event };
      for (const listener of this.#listeners) listener(event);
      // That it was begun is said where it was called from, and is no part of what it does.
      if (event.type === "session.thread_created" && event.session_thread_id === this.#own) return;
      if (this.#before !== null) this.#events.push(entry);
      this.#waiting = this.#waiting.filter((waiting) => waiting.id !== event.id);
      this.#projection.apply(entry);
    }
    this.#show();
  }
}

/** Whether a part comes of an event: parts are called after their events, those of subagents after their threads. */
const isBehind = (event: SessionEvent, part: string): boolean =>
  part === event.id ||
  part.startsWith(`${event.id}.`) ||
  (event.type === "session.thread_created" && event.session_thread_id === part);
