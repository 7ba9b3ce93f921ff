import { MINUTE_PEAK, rateAt, shareOfHour } from "./day.ts";
import { EventHeap } from "./event-heap.ts";
import { Random } from "./random.ts";

export interface TurnLoad {
  sessionsPerDay: number;
  /** On average; at least one. */
  turnsPerSession: number;
  /** From one turn's end to the next message. */
  thinkSeconds: number;
  /** How long a turn holds its place on a worker. */
  turnSeconds: { median: number; p95: number };
}

export interface TurnFlow {
  turns: number;
  /** From a message to the worker that begins: seconds. */
  wait: { p50: number; p95: number; p99: number; most: number };
  /** Turns under way. */
  running: { mean: number; most: number };
  /** Turns that wait for a place, at the worst moment. */
  longestQueue: number;
  /** Turns begun in the busiest second. */
  mostBegunPerSecond: number;
  /** Share of all places that was used. */
  busy: number;
}

/**
 * Turns over the places of workers, through one hour of a day: sessions come as they please, each sends its next message a
 * while after the last turn has ended, and a turn that finds no place waits, in order. `places` is all workers' together.
 */
export function simulateTurns(
  load: TurnLoad,
  places: number,
  { hour, seed = 1 }: { hour: number; seed?: number },
): TurnFlow {
  const random = new Random(seed);
  const happenings = new EventHeap<Happening>();
  const from = hour * 3_600;
  const until = from + 3_600;
  // Before it is measured, as long as a session lasts: an hour does not begin empty.
  const warmUp = Math.min(1_800, 4 * load.turnsPerSession * (load.thinkSeconds + load.turnSeconds.median));
  const peakRate = (load.sessionsPerDay * Math.max(shareOfHour(hour), shareOfHour(hour + 23)) * MINUTE_PEAK) / 3_600;
  const waits: number[] = [];
  const begunIn = new Map<number, number>();
  let [turns, running, mostRunning, longestQueue, held, seenAt] = [0, 0, 0, 0, 0, from];
  const queue: { at: number; left: number }[] = [];
  let head = 0;

  const arrive = (at: number): void => {
    // Thinned out: as many as the peak would bring, of which the moment takes its share.
    for (let next = at + random.exponential(1 / peakRate); next < until; next += random.exponential(1 / peakRate)) {
      if (random.next() * peakRate > rateAt(next, load.sessionsPerDay)) continue;
      happenings.push(next, { type: "session" });
      return;
    }
  };
  const account = (at: number): void => {
    const since = Math.max(seenAt, from);
    if (at > since) held += running * (at - since);
    seenAt = at;
  };
  const begin = (at: number, askedAt: number, left: number): void => {
    running += 1;
    if (at >= from) {
      turns += 1;
      waits.push(at - askedAt);
      begunIn.set(Math.floor(at), (begunIn.get(Math.floor(at)) ?? 0) + 1);
      mostRunning = Math.max(mostRunning, running);
    }
    happenings.push(at + random.logNormal(load.turnSeconds), { type: "end", left });
  };
  const ask = (at: number, left: number): void => {
    if (running < places) return begin(at, at, left);
    queue.push({ at, left });
    if (at >= from) longestQueue = Math.max(longestQueue, queue.length - head);
  };

  arrive(from - warmUp);
  for (let next = happenings.pop(); next && next.at < until; next = happenings.pop()) {
    const { at, what } = next;
    account(at);
    switch (what.type) {
      case "session":
        ask(at, turnsOf(load.turnsPerSession, random) - 1);
        arrive(at);
        break;
      case "message":
        ask(at, what.left);
        break;
      case "end": {
        running -= 1;
        if (what.left > 0)
          happenings.push(at + random.exponential(load.thinkSeconds), { type: "message", left: what.left - 1 });
        const waiting = queue[head];
        if (waiting) {
          head += 1;
          begin(at, waiting.at, waiting.left);
        }
      }
    }
  }
  account(until);
  waits.sort((a, b) => a - b);
  const quantile = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
  const mean = held / 3_600;
  return {
    turns,
    wait: { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), most: waits.at(-1) ?? 0 },
    running: { mean, most: mostRunning },
    longestQueue,
    mostBegunPerSecond: Math.max(0, ...begunIn.values()),
    busy: mean / places,
  };
}

type Happening = { type: "session" } | { type: "message"; left: number } | { type: "end"; left: number };

/** Most sessions are short, some are long: geometric. */
function turnsOf(mean: number, random: Random): number {
  return mean <= 1 ? 1 : 1 + Math.floor(Math.log(1 - random.next()) / Math.log(1 - 1 / mean));
}
