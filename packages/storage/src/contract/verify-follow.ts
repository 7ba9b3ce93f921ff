import { newId, type LoggedEvent, type SessionId } from "@tandem/protocol";
import { expect } from "vitest";
import type { EncodedEvent } from "../encoded-event.ts";
import type { Store } from "../store.ts";
import { startWriter } from "../testing/writer.ts";
import { message, textOf } from "./samples.ts";
import { defaultTenantOnly, collect, numbers, tooLate, type Behaviours } from "./storage-stage.ts";

async function collectEncoded(store: Store, session: SessionId, count: number): Promise<EncodedEvent[]> {
  const events: EncodedEvent[] = [];
  for await (const batch of store.events.followEncoded(session, 0, tooLate())) {
    events.push(...batch);
    if (events.length >= count) break;
  }
  return events;
}

const seqs = (events: readonly LoggedEvent[]): number[] => events.map(({ seq }) => seq);

export const verifyFollow: Behaviours = {
  "A follower that starts in the middle sees each event once, in order, during appends": defaultTenantOnly(
    async (stage) => {
      const lease = await stage.session();
      await stage.appendEach(lease, numbers(500).map(String));
      const append = async (): Promise<void> => {
        for (const round of numbers(50))
          await stage.appendEach(
            lease,
            numbers(50).map((number) => `${round}.${number}`),
          );
      };
      const [here, elsewhere, fromStart, encoded] = await Promise.all([
        collect(stage.store, lease.session, 250, 2_750),
        collect(stage.other, lease.session, 499, 2_501),
        collect(stage.other, lease.session, 0, 3_000),
        collectEncoded(stage.store, lease.session, 3_000),
        append(),
      ]);
      expect(seqs(here)).toEqual(numbers(2_750, 251));
      expect(seqs(elsewhere)).toEqual(numbers(2_501, 500));
      expect(seqs(fromStart)).toEqual(numbers(3_000));
      expect(fromStart).toEqual(await stage.store.events.read(lease.session, { limit: 3_000 }));
      expect(encoded).toEqual(await stage.store.events.readEncoded(lease.session, { limit: 3_000 }));
    },
  ),

  "A waiting follower and listeners get an event before its append resolves": defaultTenantOnly(async (stage) => {
    const lease = await stage.session();
    await stage.appendEach(lease, ["before"]);
    const stop = new AbortController();
    const seen: string[] = [];
    const isCaughtUp = Promise.withResolvers<void>();
    const following = (async () => {
      for await (const batch of stage.store.events.follow(lease.session, 0, stop.signal)) {
        for (const { event } of batch) seen.push(`followed ${textOf(event)}`);
        if (batch.at(-1)!.seq === 1) isCaughtUp.resolve();
      }
    })();
    await isCaughtUp.promise;
    // By now the follower has read the log and waits for the next event.
    await stage.store.events.head(lease.session);
    await stage.store.events.head(lease.session);
    const unlisten = stage.store.events.onAppend((session, events) => {
      if (session === lease.session) seen.push(`heard ${textOf(events[0]!.event)}`);
    });
    await stage.store.events.append(lease, [{ thread: null, event: message("a") }]);
    seen.push("appended a");
    await stage.store.events.append(lease, [{ thread: null, event: message("b") }]);
    seen.push("appended b");
    unlisten();
    await stage.appendEach(lease, ["c"]);
    stop.abort();
    await following;
    const parts = [["followed before"], ["followed a", "heard a"], ["appended a"], ["followed b", "heard b"]];
    const ordered = [...parts, ["appended b"], ["followed c"]];
    // The database may notify the follower before the append returns, so the first two may swap.
    let at = 0;
    expect(ordered.map((part) => seen.slice(at, (at += part.length)).toSorted())).toEqual(ordered);
    expect(seen).toHaveLength(at);
  }),

  "A slow follower misses nothing": defaultTenantOnly(async (stage) => {
    const lease = await stage.session();
    await stage.appendEach(lease, ["first"]);
    let isFirst = true;
    const sizes: number[] = [];
    const events: LoggedEvent[] = [];
    for await (const batch of stage.store.events.follow(lease.session, 0, tooLate())) {
      events.push(...batch);
      sizes.push(batch.length);
      // Append thousands while the consumer does not ask for more.
      if (isFirst) for (let round = 0; round < 30; round += 1) await stage.appendEach(lease, numbers(100).map(String));
      isFirst = false;
      if (events.length === 3_001) break;
    }
    expect(seqs(events)).toEqual(numbers(3_001));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_300);
  }),

  "A follower sees appends of another connection": async (stage) => {
    const lease = await stage.session();
    const [, followed] = await Promise.all([
      (async () => {
        for (const round of numbers(20)) await stage.appendEach(lease, [`${round}`, "more"]);
      })(),
      Promise.all(numbers(20).map(() => collect(stage.other, lease.session, 0, 40))),
    ]);
    for (const events of followed) expect(seqs(events)).toEqual(numbers(40));
  },

  "A follower misses nothing while the writer changes between processes": async (stage) => {
    const { session } = await stage.session();
    let lease = { session, token: 1 };
    const all = Promise.all([stage.store, stage.other].map((store) => collect(store, session, 0, 60)));
    for (const round of numbers(6)) {
      const writer = round % 2 ? stage.store : stage.other;
      await stage.appendEach(lease, numbers(10).map(String), writer);
      await writer.leases.release(lease);
      lease = (await (round % 2 ? stage.other : stage.store).leases.take(session, "next", 60_000))!;
    }
    for (const events of await all) expect(seqs(events)).toEqual(numbers(60));
  },

  "A follower sees appends of another process": defaultTenantOnly(async (stage) => {
    const { session } = await stage.session();
    const following = collect(stage.store, session, 0, 50);
    await using writer = startWriter(stage.location, { session, token: 1 });
    expect(seqs(await following).slice(0, 50)).toEqual(numbers(50));
    expect(await writer.acknowledged()).toBeGreaterThan(0);
  }),

  "Following ends when the signal fires, and at once if it has fired already": async (stage) => {
    const lease = await stage.session();
    await stage.appendEach(lease, ["one"]);
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const batch of stage.store.events.follow(lease.session, 0, stop.signal)) {
      seen.push(...seqs(batch));
      // Abort while the follower waits.
      setImmediate(() => stop.abort());
    }
    expect(seen).toEqual([1]);
    for await (const batch of stage.store.events.follow(lease.session, 0, stop.signal)) seen.push(...seqs(batch));
    expect(seen).toEqual([1]);
  },

  "Following ends when the session is deleted by any process, or does not exist": async (stage) => {
    const lease = await stage.session();
    await stage.appendEach(lease, ["one"]);
    const reached: Promise<void>[] = [];
    const watch = async (store: typeof stage.store): Promise<number[]> => {
      const isThere = Promise.withResolvers<void>();
      reached.push(isThere.promise);
      const seen: number[] = [];
      for await (const batch of store.events.follow(lease.session, 0, tooLate())) {
        seen.push(...seqs(batch));
        isThere.resolve();
      }
      return seen;
    };
    const signal = tooLate();
    const watching = [watch(stage.store), watch(stage.other)];
    await Promise.all(reached);
    await stage.store.sessions.delete(lease);
    expect(await Promise.all(watching)).toEqual([[1], [1]]);
    for await (const batch of stage.store.events.follow(newId("session"), 0, signal)) expect(batch).toEqual([]);
    expect(signal.aborted).toBe(false);
  },
};
