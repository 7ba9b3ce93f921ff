import {
  newId,
  STATUS_EVENTS,
  type EventId,
  type LiveDelta,
  type SessionEvent,
  type SessionEventBody,
  type ThreadId,
  type Tool,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { Lease, SessionChange, SessionRow, Store, ThreadRow } from "@tandem/storage";
import type { HostSettings } from "../host/host-settings.ts";
import { EventRedactor } from "./event-redactor.ts";
import { type OpenCall, type Placed, track } from "./open-turn.ts";
import { Outbox, type Entry, type PreviewSink } from "./outbox.ts";
import { REQUEST_ENDS } from "./request-end.ts";
import { foldOutcome } from "./session-outcome.ts";
import { Threads } from "./threads.ts";
import type { UsageLedger } from "./usage-ledger.ts";
import { OpenRuns } from "./open-runs.ts";

/**
 * The row, threads and open calls of a session as they will be once all pending events are written. Events go to the log in
 * the order in which they were passed in.
 */
export class SessionWriter {
  readonly open = new Map<EventId, OpenCall>();
  readonly runs: OpenRuns;
  /** Events from clients are stored as they were sent, because the model gets them; all others pass it first. */
  readonly redactor = new EventRedactor();
  readonly #outbox: Outbox;
  readonly #threads: Threads;
  readonly #ledger: UsageLedger;
  /** Events that were moved from the input queue, or are about to be. */
  readonly #taken = new Set<string>();
  readonly #clock: Clock;
  #row: SessionRow;
  #outcome: SessionRow["outcome"];

  constructor(parts: {
    store: Store;
    settings: Pick<HostSettings, "clock">;
    lease: Lease;
    row: SessionRow;
    threads: readonly ThreadRow[];
    runs?: OpenRuns;
    ledger: UsageLedger;
    previews: PreviewSink;
    onLost: (error: unknown) => void;
  }) {
    this.#row = parts.row;
    this.#outcome = parts.row.outcome;
    this.#clock = parts.settings.clock;
    this.#ledger = parts.ledger;
    this.#threads = new Threads(parts.row, parts.threads, this.#clock);
    this.runs = parts.runs ?? new OpenRuns();
    this.#outbox = new Outbox({ ...parts, log: parts.store.events, clock: parts.settings.clock });
  }

  /** The time of new events. */
  get now(): string {
    return isoNow(this.#clock);
  }

  get row(): SessionRow {
    return this.#row;
  }

  /** The agent of a thread, if it is one of the roster. */
  agentOf(thread: ThreadId): string | undefined {
    return this.#threads.agentOf(thread);
  }

  /** The tools of that agent. */
  toolsOf(thread: ThreadId): readonly Tool[] | undefined {
    return this.#threads.toolsOf(thread);
  }

  threadOf(thread: ThreadId): ThreadRow | undefined {
    return this.#threads.rowOf(thread);
  }

  /** Whether an event was taken from the input queue: the store lists it until the log has it. */
  hasTaken({ id }: SessionEvent): boolean {
    return this.#taken.has(id);
  }

  /** Moves an event from the input queue into the log, together with the events that follow from it. */
  take(
    event: SessionEvent,
    following: readonly Placed[] = [],
    change: SessionChange = {},
    thread: ThreadId | null = null,
  ) {
    this.#taken.add(event.id);
    const at = this.now;
    // An outcome has the time of its acceptance.
    const taken = { thread, event: { ...event, processed_at: event.processed_at ?? at } };
    return this.#write([taken, ...following.map((placed) => this.#stamp(placed, at))], change, [event.id]);
  }

  /** Resolves when the events are durable; need not be awaited. */
  write(events: readonly SessionEventBody[], change: SessionChange = {}): Promise<void> {
    return this.place(
      events.map((body) => ({ thread: null, body })),
      change,
    );
  }

  place(events: readonly Placed[], change: SessionChange = {}): Promise<void> {
    const at = this.now;
    return this.#write(
      events.map((placed) => this.#stamp(placed, at)),
      change,
    );
  }

  /** Writes a redacted event whose id is known already, because its previews were shown. */
  record(thread: ThreadId | null, id: EventId, body: SessionEventBody, change: SessionChange): Promise<void> {
    return this.#write([{ thread, event: { ...body, id, processed_at: this.now } }], change);
  }

  preview(delta: LiveDelta): void {
    this.#outbox.preview(delta);
  }

  /** Drops all pending writes. */
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

  #stamp({ thread, body, id = newId("event") }: Placed, at: string): Entry {
    return { thread, event: { ...this.redactor.event(body), id, processed_at: at } };
  }

  #write(unpriced: readonly Entry[], change: SessionChange, taken: readonly string[] = []): Promise<void> {
    if (unpriced.length === 0 && Object.keys(change).length === 0) return Promise.resolve();
    const entries = unpriced.map((entry) => this.#price(entry));
    for (const { thread, event } of entries) {
      track(this.open, thread, event);
      this.#ledger.times.note(event);
      this.#threads.note(thread, event);
      this.runs.note(event);
    }
    const session = { ...this.#used(entries), ...change };
    this.#row = { ...this.#row, ...session };
    const changes = { taken, session, row: this.#row, threads: this.#threads.changed(this.#ledger) };
    const written = this.#outbox.write(entries, changes).then(() => undefined);
    // A failure is also reported by `onLost`.
    written.catch(() => undefined);
    return written;
  }

  /** A run can take hours, so the cost of its agents is reported before the turn's usage. */
  #price({ thread, event }: Entry): Entry {
    if (event.type !== "session.thread_status_idle") return { thread, event };
    const { session_thread_id: id } = event;
    const usd = this.#threads.rowOf(id)?.workflowRunId === undefined ? undefined : this.#ledger.usdOf(id);
    return { thread, event: usd === undefined ? event : { ...event, tandem: { ...event.tandem, usd } } };
  }

  /**
   * Usage is updated with each model response, not only at the end of the turn; active time with each status; the outcome
   * when the session rests.
   */
  #used(entries: readonly Entry[]): SessionChange {
    const has = (types: readonly string[]): boolean => entries.some(({ event }) => types.includes(event.type));
    const ledger = this.#ledger;
    this.#outcome = foldOutcome(this.#outcome, entries);
    return {
      ...(has(["session.status_idle", "tandem.rewound"]) && { outcome: this.#outcome }),
      ...(has(REQUEST_ENDS) && { usage: ledger.total, microUsd: ledger.microUsd }),
      ...(has([...REQUEST_ENDS, "session.usage"]) && { modelMicroUsd: ledger.microUsdByModel }),
      ...(has(STATUS_EVENTS) && { activeMs: ledger.times.settled.activeMs }),
    };
  }
}
