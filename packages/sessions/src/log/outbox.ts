import { setTimeout as sleep } from "node:timers/promises";
import { RequestError, type LiveDelta, type LoggedEvent, type SessionEvent, type ThreadId } from "@tandem/protocol";
import type { EventLog, Lease } from "@tandem/storage";

export interface Entry {
  thread: ThreadId | null;
  event: SessionEvent;
}

/** Where a session's previews go. */
export interface PreviewSink {
  show(deltas: readonly LiveDelta[]): void;
  /** These are about to be in the log: from now on nobody is to be shown a preview of them that has not seen it. */
  settle(entries: readonly Entry[]): void;
}

type Log = Pick<EventLog, "append" | "find" | "read">;
type AppendChanges = NonNullable<Parameters<EventLog["append"]>[2]>;
type Item =
  | { type: "write"; entries: readonly Entry[]; changes: AppendChanges; settle: PromiseWithResolvers<LoggedEvent[]> }
  | { type: "previews"; deltas: LiveDelta[] };

/** So much may wait for a database that is away, before the session gives up. */
const MOST_WAITING = 20_000;
const SLOWEST_RETRY_MS = 2_000;

/**
 * Writes a session's events in the order they came, and lets previews out between them where they belong: a preview is
 * shown only after everything before it is durable. What comes while a write is under way goes into the next one together.
 * A database that is away is waited for; `onLost` is told once when nothing can be written any more.
 */
export class Outbox {
  readonly #log: Log;
  readonly #lease: Lease;
  readonly #previews: PreviewSink;
  readonly #onLost: (error: unknown) => void;
  #items: Item[] = [];
  #draining: Promise<void> | undefined;
  #lost: unknown;

  constructor(log: Log, lease: Lease, previews: PreviewSink, onLost: (error: unknown) => void) {
    this.#log = log;
    this.#lease = lease;
    this.#previews = previews;
    this.#onLost = onLost;
  }

  /** Resolves when it is durable. Whoever does not wait need not catch: `onLost` says it too. */
  write(entries: readonly Entry[], changes: AppendChanges = {}): Promise<LoggedEvent[]> {
    const settle = Promise.withResolvers<LoggedEvent[]>();
    settle.promise.catch(() => undefined);
    if (this.#items.length >= MOST_WAITING)
      this.lose(new RequestError("unavailable", "Too much waits for the database."));
    if (this.#lost === undefined) this.#add({ type: "write", entries, changes, settle });
    else settle.reject(this.#lost);
    return settle.promise;
  }

  preview(delta: LiveDelta): void {
    const last = this.#items.at(-1);
    if (last?.type === "previews") last.deltas.push(delta);
    else if (this.#draining === undefined) this.#previews.show([delta]);
    else this.#add({ type: "previews", deltas: [delta] });
  }

  /** Resolves when nothing waits any more, be it written or lost. */
  async drained(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  /** Resolves when everything that came before is durable; rejects if something never will be. */
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
        this.#previews.show(first.deltas);
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
    // In the same step as the last look: what came between them would wait for somebody who has gone.
    this.#draining = undefined;
  }

  /** One transaction for all of them; tried again for as long as the database is away. */
  async #append(batch: readonly Extract<Item, { type: "write" }>[]): Promise<LoggedEvent[]> {
    const entries = batch.flatMap((item) => item.entries);
    const changes: AppendChanges = {
      session: Object.assign({}, ...batch.map((item) => item.changes.session ?? {})),
      taken: batch.flatMap((item) => item.changes.taken ?? []),
      threads: batch.flatMap((item) => item.changes.threads ?? []),
    };
    // Before, and not when it is done: between the two the log has them already, for whoever reads it.
    this.#previews.settle(entries);
    for (let attempt = 0, delayMs = 50; ; attempt += 1, delayMs = Math.min(delayMs * 2, SLOWEST_RETRY_MS)) {
      try {
        return (
          (attempt > 0 && (await this.#written(entries))) || (await this.#log.append(this.#lease, entries, changes))
        );
      } catch (error) {
        if (!(error instanceof RequestError && error.code === "unavailable") || this.#lost !== undefined) throw error;
        await sleep(delayMs);
      }
    }
  }

  /** A connection may break after the commit and before its answer: then it is there, and must not be written twice. */
  async #written(entries: readonly Entry[]): Promise<LoggedEvent[] | undefined> {
    const { session } = this.#lease;
    const first = entries[0] && (await this.#log.find(session, entries[0].event.id));
    return first && this.#log.read(session, { after: first.seq - 1, limit: entries.length });
  }

  /** Nothing more is written: whoever waits is told why, and `onLost` is, once. */
  lose(error: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const item of this.#items) if (item.type === "write") item.settle.reject(error);
    this.#items = [];
    this.#onLost(error);
  }
}
