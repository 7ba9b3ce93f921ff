import { type LoggedEvent, type Clock } from "@tandem/protocol";
import type { EventLog, Records } from "@tandem/storage";
import { z } from "zod";
import { FLEET_SPACE } from "./fleet-space.ts";

const KIND = "throughput";
const MINUTE_MS = 60_000;
const MINUTES = 10;
/** The number of minutes for the rate. */
const RATE_MINUTES = 5;
const TELL_EVERY_MS = 5_000;
const LISTED = 5_000;
/** Counters of a dead process are removed after this time. */
const KEPT_MS = 60 * 60 * 1_000;

/** Ended turns by minute number. */
type Counts = Map<number, number>;
const stored = z.object({ name: z.string(), turns: z.array(z.tuple([z.int(), z.int()])) });

/**
 * Counts the turns that this process ends, from its appends, and shares the counts periodically in one small record. Reads no
 * log.
 */
export class TurnCounter {
  readonly #records: Records;
  readonly #key: string;
  readonly #name: string;
  readonly #counts: Counts = new Map();
  readonly #clock: Clock;
  #stopTelling: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #isWritten = true;

  constructor(records: Records, { name, tenant }: { name: string; tenant: string }, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
    this.#name = name;
    this.#key = `${name} ${tenant}`;
  }

  start(events: Pick<EventLog, "onAppend">): void {
    this.#stopListening = events.onAppend((_session, batch) => this.#note(batch));
    this.#stopTelling = this.#clock.every(TELL_EVERY_MS, () => void this.#write());
  }

  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopTelling?.();
    await this.#write();
  }

  #note(batch: readonly LoggedEvent[]): void {
    for (const { event } of batch) {
      if (event.type !== "session.status_idle" || event.stop_reason.type === "requires_action") continue;
      const minute = minuteOf(this.#clock.now());
      this.#counts.set(minute, (this.#counts.get(minute) ?? 0) + 1);
      for (const old of this.#counts.keys()) if (old <= minute - MINUTES) this.#counts.delete(old);
      this.#isWritten = false;
    }
  }

  async #write(): Promise<void> {
    if (this.#isWritten) return;
    this.#isWritten = true;
    const value = { name: this.#name, turns: [...this.#counts] };
    try {
      await this.#records.write(FLEET_SPACE, [{ type: "put", kind: KIND, key: this.#key, value }]);
    } catch {
      // The database is unreachable: the next update retries.
      this.#isWritten = false;
    }
  }
}

export interface Throughput {
  turns_per_minute: number;
  minutes: number[];
}

/** The counts of all processes, and of each by name. */
export async function readThroughput(
  records: Records,
  now: number,
): Promise<{ all: Throughput; of: (name: string) => Throughput }> {
  const found = await records.list(FLEET_SPACE, KIND, { limit: LISTED });
  const old = found.filter(({ updatedAt }) => Date.parse(updatedAt) + KEPT_MS <= now);
  if (old.length > 0) {
    // A failure is harmless; the next read retries.
    const forget = old.map(({ key }) => ({ type: "delete" as const, kind: KIND, key }));
    await records.write(FLEET_SPACE, forget).catch(() => undefined);
  }
  const values = found.map(({ value }) => stored.parse(value));
  const sum = (counts: readonly [number, number][]): Counts => {
    const total: Counts = new Map();
    for (const [minute, turns] of counts) total.set(minute, (total.get(minute) ?? 0) + turns);
    return total;
  };
  const byName = Map.groupBy(values, ({ name }) => name);
  return {
    all: rate(sum(values.flatMap(({ turns }) => turns)), now),
    of: (name) => rate(sum((byName.get(name) ?? []).flatMap(({ turns }) => turns)), now),
  };
}

function rate(counts: Counts, now: number): Throughput {
  const present = minuteOf(now);
  const minutes = Array.from({ length: MINUTES }, (_, i) => counts.get(present - MINUTES + 1 + i) ?? 0);
  const turns = minutes.slice(-RATE_MINUTES - 1).reduce((sum, count) => sum + count, 0);
  // The current minute is incomplete.
  const span = RATE_MINUTES + (now % MINUTE_MS) / MINUTE_MS;
  return { turns_per_minute: Math.round((turns / span) * 10) / 10, minutes };
}

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);
