import { newId, RequestError, type LoggedEvent } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { message } from "../contract/samples.ts";
import { numbers } from "../contract/storage-stage.ts";
import { Follower } from "./follower.ts";

/** A log in memory that counts reads. */
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

  readonly readAfter = async (after: number): Promise<{ events: LoggedEvent[]; more: boolean; ended: boolean }> => {
    this.reads += 1;
    // Asynchronous, like a real database.
    await Promise.resolve();
    if (this.isDown) throw new RequestError("unavailable", "down");
    const events = this.events.slice(after, after + this.pageSize);
    const more = events.length === this.pageSize;
    return { events, more, ended: this.isEnded };
  };

  follow(after = 0): Follower {
    return new Follower(after, this.readAfter, () => {});
  }
}

const seqs = async (follower: Follower): Promise<number[]> =>
  ((await follower.next()).value ?? []).map(({ seq }) => seq);

/** Asks for the next batch and lets the follower find that there is none yet. */
async function waiting(follower: Follower): Promise<{ seqs: Promise<number[]> }> {
  const next = seqs(follower);
  await new Promise(setImmediate);
  return { seqs: next };
}

describe("Follower", () => {
  test("reads stored events, then delivers handed ones without reading", async () => {
    const log = new Log(3);
    const follower = log.follow();
    expect(await seqs(follower)).toEqual([1, 2, 3]);
    for (const expected of [[4, 5], [6]]) {
      const next = await waiting(follower);
      const { reads } = log;
      follower.push(log.add(expected.length));
      expect(await next.seqs).toEqual(expected);
      expect(log.reads).toBe(reads);
    }
  });

  test("delivers an event once that was both read and handed over", async () => {
    const log = new Log(2);
    const follower = log.follow();
    const next = seqs(follower);
    // Handed over during the read that finds the same events.
    follower.push(log.add(2));
    expect(await next).toEqual([1, 2, 3, 4]);
    const after = await waiting(follower);
    follower.push(log.add(1));
    expect(await after.seqs).toEqual([5]);
  });

  test("delivers events handed over during a read at once if they continue the sequence", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    follower.reread();
    const order: string[] = [];
    const next = follower.next().then(({ value }) => order.push(`followed ${value?.[0]?.seq}`));
    follower.push(log.add(1));
    await Promise.resolve().then(() => order.push("appended"));
    await next;
    expect(order).toEqual(["followed 2", "appended"]);
    const after = await waiting(follower);
    follower.push(log.add(1));
    expect(await after.seqs).toEqual([3]);
  });

  test("reads missed events before it delivers handed ones", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    const next = await waiting(follower);
    log.add(2);
    follower.push(log.add(1));
    expect(await next.seqs).toEqual([2, 3, 4]);
  });

  test("bounds its buffer for a slow consumer, then reads from the log", async () => {
    const log = new Log(1, 300);
    const follower = log.follow();
    await seqs(follower);
    await waiting(follower).then(({ seqs }) => {
      follower.push(log.add(1));
      return seqs;
    });
    const { reads } = log;
    for (const _ of numbers(50)) follower.push(log.add(100));
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

  test("fails if the database is down at the start, and retries if it goes down later", async () => {
    const log = new Log(1);
    log.isDown = true;
    await expect(log.follow().next()).rejects.toMatchObject({ code: "unavailable" });
    log.isDown = false;
    const follower = log.follow();
    await seqs(follower);
    log.isDown = true;
    log.add(1);
    follower.reread();
    const next = await waiting(follower);
    log.isDown = false;
    follower.reread();
    expect(await next.seqs).toEqual([2]);
  });

  test("ends for waiting and later callers; a deleted session's buffer is delivered first", async () => {
    const log = new Log(1);
    const follower = log.follow();
    await seqs(follower);
    const next = follower.next();
    follower.stop();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await follower.next()).toEqual({ done: true, value: undefined });

    const other = log.follow(1);
    other.push(log.add(1));
    other.finish();
    expect(await seqs(other)).toEqual([2]);
    expect((await other.next()).done).toBe(true);
  });

  test("ends after the log is complete and fully delivered", async () => {
    const log = new Log(1, 10);
    const follower = log.follow();
    await seqs(follower);
    const next = await waiting(follower);
    follower.push(log.add(1));
    expect(await next.seqs).toEqual([2]);
    // Handed over, but dropped by the following `reread` before the consumer asks.
    follower.push(log.add(1));
    log.add(25);
    log.isEnded = true;
    follower.reread();
    const seen: number[] = [];
    for await (const batch of follower) {
      seen.push(...batch.map(({ seq }) => seq));
      follower.reread();
    }
    expect(seen).toEqual(numbers(26, 3));
  });
});
