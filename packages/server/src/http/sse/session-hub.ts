import { setTimeout as sleep } from "node:timers/promises";
import { newId, RequestError, type LiveDelta, type SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EncodedEvent } from "@tandem/storage";
import type { Logger } from "../create-logger.ts";
import type { ServerSettings } from "../settings.ts";
import type { Audience } from "./audience.ts";
import type { EventStream } from "./event-stream.ts";
import { namedFrame } from "./frame.ts";
import { frameOf, previewedId, type StreamItem } from "./stream-item.ts";

type HubSettings = Pick<ServerSettings, "batchMs" | "slowBytes" | "stuckBytes">;

const FIRST_RETRY_MS = 200;
const SLOWEST_RETRY_MS = 5_000;
/** One core does about 50,000 writes a second, so the batch window grows with the clients: 50 ms for a thousand. */
const CLIENTS_PER_MS = 20;
/** How long a client that reads its backlog may pause. */
const DRAIN_MS = 30_000;

interface Subscriber {
  stream: EventStream;
  audience: Audience;
  /**
   * Events whose preview this client did not get from the start. The rest is skipped, because previews are prefixes.
   */
  muted: Set<string>;
  /**
   * The last event the client had when it joined. It may be ahead of this hub, from another server or from its backlog.
   */
  has: number;
  /** False until the hub has written its events to this client: otherwise a preview could follow its own event. */
  getsPreviews: boolean;
}

export interface HubDependencies {
  sessions: Sessions;
  settings: HubSettings;
  logger: Logger;
  /** Called for every event as it arrives, before it is streamed. */
  onReceive: ((event: EncodedEvent) => void) | undefined;
}

/**
 * One session's events and previews for all its clients. It reads the log once, encodes each batch once per filter and
 * writes it to each client. It lives from its first client to its last.
 */
export class SessionHub {
  readonly #session: SessionId;
  readonly #dependencies: HubDependencies;
  readonly #stop = new AbortController();
  readonly #subscribers = new Set<Subscriber>();
  /** The last event read from the log, and the last one written to clients. */
  #received = 0;
  #written = 0;
  #pending: StreamItem[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastFlush = 0;
  #saidDeleted = false;

  constructor(session: SessionId, dependencies: HubDependencies) {
    this.#session = session;
    this.#dependencies = dependencies;
  }

  /** Resolves when no later event can be missed. */
  async start(): Promise<void> {
    const head = await this.#dependencies.sessions.head(this.#session);
    this.#received = this.#written = head;
    // Subscribe synchronously: previews from now on come after that event.
    const hear = (deltas: readonly LiveDelta[]): void => {
      for (const live of deltas) this.#push({ type: "delta", live });
    };
    const silence = this.#dependencies.sessions.onDelta(this.#session, { after: head, hear });
    this.#stop.signal.addEventListener("abort", silence, { once: true });
    void this.#follow();
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  /** Streams from now on, or from after the event `after`, without gap or duplicate. */
  join(stream: EventStream, audience: Audience, after: number | undefined): void {
    if (this.#stop.signal.aborted) return void stream.end();
    const subscriber: Subscriber = { stream, audience, muted: new Set(), has: after ?? 0, getsPreviews: false };
    if (after === undefined) this.#attach(subscriber);
    else {
      this.#catchUp(subscriber, after).catch((error: unknown) => {
        this.#dependencies.logger.warn({ err: error, session: this.#session }, "could not read a stream's backlog");
        stream.end();
      });
    }
  }

  /** Call it when `#written` is the client's position, without an await in between. */
  #attach(subscriber: Subscriber): void {
    if (subscriber.stream.closed.aborted) return;
    this.#subscribers.add(subscriber);
    subscriber.stream.closed.addEventListener("abort", () => this.#subscribers.delete(subscriber), { once: true });
    // The text so far includes the deltas that wait: write them to the other clients first.
    if (this.#pending.length > 0) this.#flush();
    else this.#startPreviews(subscriber);
  }

  /** A client that joins during a response starts with the text so far. Call it when nothing is pending. */
  #startPreviews(subscriber: Subscriber): void {
    if (subscriber.getsPreviews || subscriber.has > this.#written) return;
    const previews = this.#dependencies.sessions.previews(this.#session, this.#written);
    if (!previews) return this.#flushSoon();
    subscriber.getsPreviews = true;
    for (const id of previews.torn) subscriber.muted.add(id);
    const items = previews.deltas.map((live): StreamItem => ({ type: "delta", live }));
    const wanted = items.filter((item) => subscriber.audience.wants(item));
    if (wanted.length > 0) subscriber.stream.write(wanted.map(frameOf).join(""));
  }

  /** Reads the next batch only when the client has read the last one, so that no backlog is held in memory. */
  async #catchUp(subscriber: Subscriber, after: number): Promise<void> {
    const { stream, audience } = subscriber;
    if (after >= this.#written) return this.#attach(subscriber);
    for await (const events of this.#dependencies.sessions.followEncoded(this.#session, after, stream.closed)) {
      const items = events.map(itemOf).filter((item) => audience.wants(item));
      stream.write(items.map(frameOf).join(""));
      if (!(await stream.drained(DRAIN_MS))) return stream.destroy();
      subscriber.has = events.at(-1)!.seq;
      if (subscriber.has >= this.#written) return this.#attach(subscriber);
    }
    // The session was deleted or the client disconnected.
    stream.end();
  }

  /** Retries during a database outage; missed events are read from the log afterwards. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for (let delayMs = FIRST_RETRY_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, SLOWEST_RETRY_MS)) {
      try {
        for await (const events of this.#dependencies.sessions.followEncoded(this.#session, this.#received, signal)) {
          delayMs = FIRST_RETRY_MS;
          for (const event of events) this.#receive(event);
        }
        if (!signal.aborted) this.#endDeleted();
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RequestError && error.code === "not_found") return this.#endDeleted();
        this.#dependencies.logger.warn(
          { err: error, session: this.#session },
          "lost the connection to a session's log; trying again",
        );
        await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #receive(event: EncodedEvent): void {
    if (event.seq <= this.#received) return;
    if (event.seq > this.#received + 1) throw new Error(`Event ${event.seq} came after ${this.#received}.`);
    this.#received = event.seq;
    this.#dependencies.onReceive?.(event);
    this.#saidDeleted = event.type === "session.deleted";
    this.#push(itemOf(event));
  }

  /** A single item is sent at the end of this tick; many items are sent once per window. */
  #push(item: StreamItem): void {
    this.#pending.push(item);
    this.#flushSoon();
  }

  #flushSoon(): void {
    const windowMs = Math.max(this.#dependencies.settings.batchMs, this.#subscribers.size / CLIENTS_PER_MS);
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(0, this.#lastFlush + windowMs - performance.now()));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastFlush = performance.now();
    const items = this.#pending;
    this.#pending = [];
    const encoded = new Map<string, Buffer>();
    for (const subscriber of this.#subscribers) {
      try {
        this.#deliver(subscriber, items, encoded);
      } catch (error) {
        // The client reconnects and resumes from the log.
        this.#dependencies.logger.error({ err: error, session: this.#session }, "could not write to a stream");
        subscriber.stream.end();
      }
    }
    this.#written = this.#received;
    for (const subscriber of this.#subscribers) this.#startPreviews(subscriber);
  }

  #deliver(subscriber: Subscriber, items: readonly StreamItem[], encoded: Map<string, Buffer>): void {
    const { stream, audience, muted, getsPreviews } = subscriber;
    if (stream.unsent > this.#dependencies.settings.stuckBytes) {
      return this.#letGo(subscriber);
    }
    if (stream.unsent > this.#dependencies.settings.slowBytes) {
      for (const item of items) {
        const id = previewedId(item);
        if (id !== undefined) muted.add(id);
      }
    }
    const silenced = new Set(items.map(previewedId).filter((id) => id !== undefined && muted.has(id)));
    const has = Math.max(subscriber.has, this.#written);
    const key = `${audience.key} ${has} ${getsPreviews} ${[...silenced].join()}`;
    let chunk = encoded.get(key);
    if (!chunk) {
      const wanted = items.filter(
        (item) =>
          (item.type === "event" ? item.event.seq > has : getsPreviews && !silenced.has(previewedId(item))) &&
          audience.wants(item),
      );
      chunk = Buffer.from(wanted.map(frameOf).join(""));
      encoded.set(key, chunk);
    }
    if (chunk.length > 0) stream.write(chunk);
    if (muted.size > 0) for (const item of items) if (item.type === "event") muted.delete(item.event.id);
  }

  /** A client that does not know `tandem.resync` sees a broken stream, not one that has ended. */
  #letGo({ stream, audience }: Subscriber): void {
    if (stream.closed.aborted) return;
    const { unsent } = stream;
    const resync = { type: "tandem.resync", last_event_id: String(this.#written) };
    if (!audience.tandem) stream.destroy();
    else if (!stream.end(namedFrame(resync.type, resync))) return;
    this.#dependencies.logger.info({ session: this.#session, unsent }, "disconnected a client that did not keep up");
  }

  /** The log is deleted with the session, so its last event exists only here. */
  #endDeleted(): void {
    this.#flush();
    const event = { type: "session.deleted", id: newId("event"), processed_at: new Date().toISOString() };
    const lastFrame = this.#saidDeleted ? "" : namedFrame("message", event);
    for (const { stream } of this.#subscribers) stream.end(lastFrame);
    this.stop();
  }
}

const itemOf = (event: EncodedEvent): StreamItem => ({ type: "event", event });
