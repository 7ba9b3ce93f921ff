import {
  newId,
  type EventId,
  type LiveDelta,
  type SessionEvent,
  type SessionEventBody,
  type ThreadId,
  type Tool,
} from "@tandem/protocol";
import type { Lease, SessionChange, SessionRow, Store, ThreadRow } from "@tandem/storage";
import { type OpenCall, type Placed, track } from "./open-turn.ts";
import { Outbox, type Entry, type PreviewSink } from "./outbox.ts";
import { Threads } from "./threads.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/**
 * A session as its one writer knows it: its row, its threads, its open calls, always as they will be once everything that
 * was handed in is written. Events go to the log in the order they were handed in.
 */
export class SessionWriter {
  readonly open = new Map<EventId, OpenCall>();
  readonly #outbox: Outbox;
  readonly #threads: Threads;
  readonly #ledger: UsageLedger;
  /** Events that were moved from the inbox, or are about to be. */
  readonly #taken = new Set<string>();
  #row: SessionRow;

  constructor(parts: {
    store: Store;
    lease: Lease;
    row: SessionRow;
    threads: readonly ThreadRow[];
    ledger: UsageLedger;
    previews: PreviewSink;
    onLost: (error: unknown) => void;
  }) {
    this.#row = parts.row;
    this.#ledger = parts.ledger;
    this.#threads = new Threads(parts.row, parts.threads);
    this.#outbox = new Outbox(parts.store.events, parts.lease, parts.previews, parts.onLost);
  }

  get row(): SessionRow {
    return this.#row;
  }

  /** The agent that works on a thread, where it is one of the roster. */
  agentOf(thread: ThreadId): string | undefined {
    return this.#threads.agentOf(thread);
  }

  /** Its tools. */
  toolsOf(thread: ThreadId): readonly Tool[] | undefined {
    return this.#threads.toolsOf(thread);
  }

  /** Whether an event has left the inbox: the store may list it there until the log has it. */
  hasTaken({ id }: SessionEvent): boolean {
    return this.#taken.has(id);
  }

  /** Moves an event from the inbox into the log, with what follows from it. */
  take(
    event: SessionEvent,
    following: readonly Placed[] = [],
    change: SessionChange = {},
    thread: ThreadId | null = null,
  ) {
    this.#taken.add(event.id);
    const at = new Date().toISOString();
    const taken = { thread, event: { ...event, processed_at: at } };
    return this.#write([taken, ...following.map((placed) => stamp(placed, at))], change, [event.id]);
  }

  /** Resolves when it is durable; need not be awaited. */
  write(events: readonly SessionEventBody[], change: SessionChange = {}): Promise<void> {
    return this.place(
      events.map((body) => ({ thread: null, body })),
      change,
    );
  }

  place(events: readonly Placed[], change: SessionChange = {}): Promise<void> {
    const at = new Date().toISOString();
    return this.#write(
      events.map((placed) => stamp(placed, at)),
      change,
    );
  }

  /** An event whose id has been given already, because previews of it were shown. */
  record(thread: ThreadId | null, id: EventId, body: SessionEventBody, change: SessionChange): Promise<void> {
    return this.#write([{ thread, event: { ...body, id, processed_at: new Date().toISOString() } }], change);
  }

  preview(delta: LiveDelta): void {
    this.#outbox.preview(delta);
  }

  /** Nothing more is written, not even what waits. */
  abandon(error: unknown): void {
    this.#outbox.lose(error);
  }

  drained(): Promise<void> {
    return this.#outbox.drained();
  }

  /** Rejects if something will never be written. */
  durable(): Promise<void> {
    return this.#outbox.durable();
  }

  #write(entries: readonly Entry[], change: SessionChange, taken: readonly string[] = []): Promise<void> {
    if (entries.length === 0 && Object.keys(change).length === 0) return Promise.resolve();
    const session = { ...this.#used(entries), ...change };
    this.#row = { ...this.#row, ...session };
    for (const { thread, event } of entries) {
      track(this.open, thread, event);
      this.#threads.note(thread, event);
    }
    const changes = { taken, session, threads: this.#threads.changed(this.#ledger) };
    const written = this.#outbox.write(entries, changes).then(() => undefined);
    // Whoever does not wait for it hears of a failure all the same: the session is lost then.
    written.catch(() => undefined);
    return written;
  }

  /** What a session has used is known with each answer, not with the turn's end alone. */
  #used(entries: readonly Entry[]): SessionChange {
    if (entries.every(({ event }) => event.type !== "span.model_request_end")) return {};
    return { usage: this.#ledger.total, microUsd: this.#ledger.microUsd };
  }
}

const stamp = ({ thread, body }: Placed, at: string): Entry => ({
  thread,
  event: { ...body, id: newId("event"), processed_at: at },
});
