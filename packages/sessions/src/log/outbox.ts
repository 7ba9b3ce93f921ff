import {
  RequestError,
  type LiveDelta,
  type LoggedEvent,
  type SessionEvent,
  type ThreadId,
  sleep,
  type Clock,
} from "@tandem/protocol";
import type { EventLog, Lease } from "@tandem/storage";

export interface Entry {
  thread: ThreadId | null;
  event: SessionEvent;
}

/** Receives a session's previews. */
export interface PreviewSink {
  show(deltas: readonly LiveDelta[]): void;
  /** These events are about to be written: their previews must not be shown to new listeners from now on. */
  settle(entries: readonly Entry[]): void;
}

type AppendChanges = NonNullable<Parameters<EventLog["append"]>[2]>;
type Item =
  | { type: "write"; entries: readonly Entry[]; changes: AppendChanges; settle: PromiseWithResolvers<LoggedEvent[]> }
  | { type: "previews"; deltas: LiveDelta[] };

/** The session is given up if more writes than this wait for an unreachable database. */
const MAX_WAITING = 20_000;
const SLOWEST_RETRY_MS = 2_000;

interface OutboxDependencies {
  log: Pick<EventLog, "append" | "find" | "read">;
  lease: Lease;
  previews: PreviewSink;
  clock: Clock;
  /** Called once when nothing can be written any more. */
  onLost: (error: unknown) => void;
}

/**
 * Writes a session's events in order, with previews in their place between them: a preview is shown only after everything
 * before it is durable. Events that arrive during a write go into the next one together. While the database is unreachable,
 * the write is retried.
 */
export class Outbox {
  readonly #dependencies: OutboxDependencies;
  #items: Item[] = [];
  #draining: Promise<void> | undefined;
  #lost: unknown;

  constructor(dependencies: OutboxDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves when the events are durable. A rejection need not be handled: `onLost` reports it too. */
  write(entries: readonly Entry[], changes: AppendChanges = {}): Promise<LoggedEvent[]> {
    const settle = Promise.withResolvers<LoggedEvent[]>();
    settle.promise.catch(() => undefined);
    if (this.#items.length >= MAX_WAITING)
      this.lose(new RequestError("unavailable", "Too much waits for the database."));
    if (this.#lost === undefined) this.#add({ type: "write", entries, changes, settle });
    else settle.reject(this.#lost);
    return settle.promise;
  }

  preview(delta: LiveDelta): void {
    const last = this.#items.at(-1);
    if (last?.type === "previews") last.deltas.push(delta);
    else if (this.#draining === undefined) this.#dependencies.previews.show([delta]);
    else this.#add({ type: "previews", deltas: [delta] });
  }

  /** Resolves when nothing waits any more, written or lost. */
  async drained(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  /** Resolves when everything before is durable; rejects if something never will be. */
  async durable(): Promise<void> {
    await this.drained();
    if (this.#lost !== undefined) throw this.#lost;
  }

  #add(item: Item): void {
    this.#items.push(item);
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#items.length > 0) {
      const first = this.#items[0]!;
      if (first.type === "previews") {
        this.#items.shift();
        this.#dependencies.previews.show(first.deltas);
        continue;
      }
      const end = this.#items.findIndex(({ type }) => type === "previews");
      const batch = this.#items
        .splice(0, end === -1 ? this.#items.length : end)
        .filter((item) => item.type === "write");
      try {
        const logged = await this.#append(batch);
        let from = 0;
        for (const { entries, settle } of batch) settle.resolve(logged.slice(from, (from += entries.length)));
      } catch (error) {
        for (const { settle } of batch) settle.reject(error);
        this.lose(error);
      }
    }
    // Clear synchronously after the emptiness check; an item added in between would never be drained.
    this.#draining = undefined;
  }

  /** Writes all in one transaction; retries while the database is unreachable. */
  async #append(batch: readonly Extract<Item, { type: "write" }>[]): Promise<LoggedEvent[]> {
    const entries = batch.flatMap((item) => item.entries);
    const row = batch.at(-1)?.changes.row;
    const changes: AppendChanges = {
      session: Object.assign({}, ...batch.map((item) => item.changes.session ?? {})),
      ...(row && { row }),
      taken: batch.flatMap((item) => item.changes.taken ?? []),
      threads: batch.flatMap((item) => item.changes.threads ?? []),
    };
    // Settle before the write: a reader may see the events before this process learns of the commit.
    this.#dependencies.previews.settle(entries);
    for (let attempt = 0, delayMs = 50; ; attempt += 1, delayMs = Math.min(delayMs * 2, SLOWEST_RETRY_MS)) {
      try {
        return (
          (attempt > 0 && (await this.#written(entries))) ||
          (await this.#dependencies.log.append(this.#dependencies.lease, entries, changes))
        );
      } catch (error) {
        if (!(error instanceof RequestError && error.code === "unavailable") || this.#lost !== undefined) throw error;
        await sleep(this.#dependencies.clock, delayMs, { keepsProcess: true });
      }
    }
  }

  /** A connection can break between the commit and its answer: the events are in the log then, and must not be written twice. */
  async #written(entries: readonly Entry[]): Promise<LoggedEvent[] | undefined> {
    const { session } = this.#dependencies.lease;
    const first = entries[0] && (await this.#dependencies.log.find(session, entries[0].event.id));
    return first && this.#dependencies.log.read(session, { after: first.seq - 1, limit: entries.length });
  }

  /** Rejects all waiting writes and reports the loss once. */
  lose(error: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const item of this.#items) if (item.type === "write") item.settle.reject(error);
    this.#items = [];
    this.#dependencies.onLost(error);
  }
}
