import { newId, RequestError, type LoggedEvent } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { message } from "../contract/samples.ts";
import { numbers } from "../contract/stage.ts";
import { Follower } from "./follower.ts";

/** A log in memory that counts how often it is read. */
class Log {
  readonly events: LoggedEvent[] = [];
  reads = 0;
  isDown = false;
  isEnded = false;
  readonly pageSize: number;

  constructor(length: number, pageSize = 100) {
    this.pageSize = pageSize;
    this.add(length);
  }

  add(count: number): LoggedEvent[] {
    const first = this.events.length + 1;
    const fresh = numbers(count, first).map((seq) => ({ seq, thread: null, event: message(newId("event")) }));
    this.events.push(...fresh);
    return fresh;
  }

  readonly readOn = async (after: number): Promise<{ events: LoggedEvent[]; more: boolean; ended: boolean }> => {
    this.reads += 1;
    // A real one takes its time, too.
    await Promise.resolve();
    if (this.isDown) throw new RequestError("unavailable", "down");
    const events = this.events.slice(after, after + this.pageSize);
    const more = events.length === this.pageSize;
    return { events, more, ended: this.isEnded };
  };

  follow(after = 0): Follower {
    return new Follower(after, this.readOn, () => {});
  }
}

const seqs = async (follower: Follower): Promise<number[]> =>
  ((await follower.next()).value ?? []).map(({ seq }) => seq);

/** Asks for the next batch, and gives the follower time to read that there is none yet. */
async function waiting(follower: Follower): Promise<{ seqs: Promise<number[]> }> {
  const next = seqs(follower);
  await new Promise(setImmediate);
  return { seqs: next };
}

describe("a follower", () => {
  test("reads what is there, then gets what is handed to it without reading", async () => {
    const log = new Log(3);
    const follower = log.follow();
    expect(await seqs(follower)).toEqual([1, 2, 3]);
    for (const expected of [[4, 5], [6]]) {
      const next = await waiting(follower);
      const { reads } = log;
      follower.hand(log.add(expected.length));
      expect(await next.seqs).toEqual(expected);
      expect(log.reads).toBe(reads);
    }
  });

  test("gives no event twice that was both read and handed over", async () => {
    const log = new Log(2);
    const follower = log.follow();
    const next = seqs(follower);
    // Handed over while it reads, which finds them as well.
    follower.hand(log.add(2));
    expect(await next).toEqual([1, 2, 3, 4]);
    const after = await waiting(follower);
    follower.hand(log.add(1));
    expect(await after.seqs).toEqual([5]);
  });

  test("hands over at once what comes while it reads, if it follows upon what the consumer has", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    follower.look();
    const order: string[] = [];
    const next = follower.next().then(({ value }) => order.push(`followed ${value?.[0]?.seq}`));
    follower.hand(log.add(1));
    await Promise.resolve().then(() => order.push("appended"));
    await next;
    expect(order).toEqual(["followed 2", "appended"]);
    const after = await waiting(follower);
    follower.hand(log.add(1));
    expect(await after.seqs).toEqual([3]);
  });

  test("reads what it was not handed before what it was", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    const next = await waiting(follower);
    log.add(2);
    follower.hand(log.add(1));
    expect(await next.seqs).toEqual([2, 3, 4]);
  });

  test("holds a bounded number of events for a consumer that does not come back, then reads from the log", async () => {
    const log = new Log(1, 300);
    const follower = log.follow();
    await seqs(follower);
    await waiting(follower).then(({ seqs }) => {
      follower.hand(log.add(1));
      return seqs;
    });
    const { reads } = log;
    for (const _ of numbers(50)) follower.hand(log.add(100));
    const seen: number[] = [];
    const sizes: number[] = [];
    while (seen.length < 5_000) {
      const batch = await seqs(follower);
      sizes.push(batch.length);
      seen.push(...batch);
    }
    expect(seen).toEqual(numbers(5_000, 3));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_300);
    expect(log.reads).toBeGreaterThan(reads);
  });

  test("fails at once if there is no database, and waits for one that was there", async () => {
    const log = new Log(1);
    log.isDown = true;
    await expect(log.follow().next()).rejects.toMatchObject({ code: "unavailable" });
    log.isDown = false;
    const follower = log.follow();
    await seqs(follower);
    log.isDown = true;
    log.add(1);
    follower.look();
    const next = await waiting(follower);
    log.isDown = false;
    follower.look();
    expect(await next.seqs).toEqual([2]);
  });

  test("ends for whoever waits and whoever asks later; what it holds is given first if the session is gone", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    const next = follower.next();
    follower.stop();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await follower.next()).toEqual({ done: true, value: undefined });

    const other = log.follow(1);
    other.hand(log.add(1));
    other.finish();
    expect(await seqs(other)).toEqual([2]);
    expect((await other.next()).done).toBe(true);
  });

  test("ends once it has read that nothing more will come, and not before all of it was given", async () => {
    const log = new Log(1, 10);
    const follower = log.follow();
    await seqs(follower);
    const next = await waiting(follower);
    follower.hand(log.add(1));
    expect(await next.seqs).toEqual([2]);
    // Handed over, but not asked for before it is looked for again.
    follower.hand(log.add(1));
    log.add(25);
    log.isEnded = true;
    follower.look();
    const seen: number[] = [];
    for await (const batch of follower) {
      seen.push(...batch.map(({ seq }) => seq));
      follower.look();
    }
    expect(seen).toEqual(numbers(26, 3));
  });
});
