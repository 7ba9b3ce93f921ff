import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import type { QueueOptions, RunQueue } from "../run-queue.ts";
import { ManualWorker, runOf, type QueueFixture } from "./queue-stage.ts";

const slowness = inject("slowness");
/** A short timeout of workers, so that deaths are noticed soon. */
const SILENT_MS = 1_000 * slowness;

/** The contract of every run queue. */
export function queueContract(name: string, start: () => Promise<QueueFixture>, whyNot?: string): void {
  describe.skipIf(whyNot)(`queue: ${name}${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
    let fixture: QueueFixture;
    const opened: RunQueue[] = [];
    const open = async (options?: QueueOptions): Promise<RunQueue> => {
      const queue = await fixture.open({ pauseSeconds: fixture.pauseSeconds, ...options });
      opened.push(queue);
      return queue;
    };

    const aWhile = (): Promise<void> => delay(fixture.aWhileMs);

    beforeAll(async () => {
      fixture = await start();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queue) => queue[Symbol.asyncDispose]()));
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    test("delivers a run unchanged, sent before or after the worker started", async () => {
      const queue = await open();
      const run = runOf("early", {
        kind: "session",
        tenant: "Ä/cme.1",
        place: "needs:gpu=yes,os=a b",
        traceparent: "00-ab",
      });
      await queue.send(run);
      const hand = new ManualWorker(queue, [run.place]);
      await hand.begins("early");
      expect(hand.begun[0]).toEqual(run);
      await queue.send({ ...run, key: "late" });
      await hand.begins("early", "late");
    });

    test("does not queue a waiting run twice; queues one more behind a running one", async () => {
      const queue = await open();
      await queue.send(runOf("a"));
      await queue.send(runOf("a"));
      const hand = new ManualWorker(queue);
      await hand.begins("a");
      await queue.send(runOf("a"));
      await queue.send(runOf("a"));
      await queue.send(runOf("b"));
      // It does not block runs behind it.
      await hand.begins("a", "b");
      hand.end("a");
      await hand.begins("a", "a", "b");
      hand.end("a");
      await queue.send(runOf("c"));
      await hand.begins("a", "a", "b", "c");
      // The end of a run may still be on its way to the database.
      await expect.poll(async () => (await queue.depth())[0]).toMatchObject({ waiting: 0, running: 2 });
    });

    test("a run that starts after a send sees it, and runs of one key never overlap", async () => {
      const queue = await open();
      const keys = ["x", "y", "z"];
      const sent = new Map<string, number>();
      const seen = new Map<string, number>();
      const busy = new Set<string>();
      let overlaps = 0;
      const handle = async ({ key }: { key: string }): Promise<void> => {
        if (busy.has(key)) overlaps += 1;
        busy.add(key);
        seen.set(key, sent.get(key) ?? 0);
        await delay(Math.random() * 6);
        busy.delete(key);
      };
      const workers = [1, 2].map(() => queue.work(["any"], () => 2, handle));
      const senders = keys.map(async (key) => {
        for (let count = 1; count <= 40; count += 1) {
          sent.set(key, count);
          await queue.send(runOf(key));
          await delay(Math.random() * 12);
        }
      });
      await Promise.all(senders);
      await expect.poll(() => keys.map((key) => seen.get(key))).toEqual([40, 40, 40]);
      expect(overlaps).toBe(0);
      await Promise.all(workers.map((worker) => worker.stop(5_000)));
    });

    test("respects capacity, and takes more at once when it grows", async () => {
      const queue = await open();
      for (const key of ["a", "b", "c"]) await queue.send(runOf(key));
      const hand = new ManualWorker(queue, ["any"], 0);
      await aWhile();
      expect(hand.keys).toEqual([]);
      hand.capacity = 2;
      hand.working.look();
      await hand.begins("a", "b");
      await aWhile();
      expect(hand.keys).toEqual(["a", "b"]);
      hand.end("a");
      await hand.begins("a", "b", "c");
    });

    test("takes runs of its own places only, including added ones", async () => {
      const queue = await open();
      const hand = new ManualWorker(queue, ["machine:one"]);
      await queue.send(runOf("a", { place: "machine:two" }));
      await queue.send(runOf("b", { place: "machine:one" }));
      await hand.begins("b");
      expect(hand.keys).not.toContain("a");
      await hand.working.serve("machine:two");
      await hand.begins("a", "b");
      await queue.send(runOf("c", { place: "machine:two", tenant: "new" }));
      await hand.begins("a", "b", "c");
    });

    test("takes runs of its own tenants only", async () => {
      const queue = await open();
      const begun: string[] = [];
      queue.work(
        ["any"],
        () => 10,
        async ({ key }) => void begun.push(key),
        { tenants: ["acme", "b/c"] },
      );
      for (const tenant of ["default", "acme", "b", "b/c"]) await queue.send(runOf(tenant, { tenant }));
      await expect.poll(() => begun.toSorted()).toEqual(["acme", "b/c"]);
      await aWhile();
      expect(begun).toHaveLength(2);
      const hand = new ManualWorker(queue);
      await hand.begins("b", "default");
    });

    test("takes the highest priority first", async () => {
      const queue = await open();
      for (const [key, priority] of [
        ["low", -1],
        ["usual", 0],
        ["high", 5],
        ["higher", 6],
      ] as const) {
        await queue.send(runOf(key, { priority, tenant: key }));
      }
      const hand = new ManualWorker(queue, ["any"], 1);
      for (const [index, key] of ["higher", "high", "usual", "low"].entries()) {
        await expect.poll(() => hand.keys[index]).toBe(key);
        hand.end(key);
      }
    });

    test("a busy tenant does not starve another", async () => {
      const queue = await open();
      for (const key of ["a1", "a2", "a3", "a4", "a5", "a6"]) await queue.send(runOf(key, { tenant: "a" }));
      for (const key of ["b1", "b2"]) await queue.send(runOf(key, { tenant: "b" }));
      const hand = new ManualWorker(queue, ["any"], 4);
      await hand.begins("a1", "a2", "b1", "b2");
      expect(hand.underWay).toHaveLength(4);
    });

    test("with a capacity of one, tenants take turns", async () => {
      const queue = await open();
      for (const key of ["a1", "a2", "a3", "a4"]) await queue.send(runOf(key, { tenant: "a" }));
      for (const key of ["b1", "b2"]) await queue.send(runOf(key, { tenant: "b" }));
      const hand = new ManualWorker(queue, ["any"], 1);
      const order = ["a1", "b1", "a2", "b2", "a3", "a4"];
      for (const [index, key] of order.entries()) {
        await expect.poll(() => hand.keys.length).toBe(index + 1);
        expect(hand.keys[index]).toBe(key);
        hand.end(key);
      }
    });

    test("limits the running runs of a tenant across all workers", async () => {
      const queue = await open({ limitOf: (tenant) => (tenant === "small" ? 2 : 100) });
      const hands = [new ManualWorker(queue), new ManualWorker(queue), new ManualWorker(queue)];
      const underWay = (): string[] => hands.flatMap((hand) => hand.underWay);
      await Promise.all([1, 2, 3, 4, 5].map((count) => queue.send(runOf(`s${count}`, { tenant: "small" }))));
      await queue.send(runOf("big", { tenant: "big" }));
      await expect.poll(() => underWay().length).toBe(3);
      await aWhile();
      expect(underWay()).toHaveLength(3);
      expect(underWay()).toContain("big");
      const first = underWay().find((key) => key !== "big")!;
      hands.find((hand) => hand.underWay.includes(first))!.end(first);
      await expect.poll(() => hands.flatMap((hand) => hand.keys).length).toBe(4);
    });

    test("takes jobs beside sessions, whatever limit the tenant's sessions have", async () => {
      const queue = await open({ limitOf: () => 1, attempts: 1 });
      const hand = new ManualWorker(queue, ["any", "context:one"]);
      for (const key of ["s1", "s2"]) await queue.send(runOf(key));
      await expect.poll(() => hand.keys).toEqual(["s1"]);
      const job = (key: string) => runOf(key, { kind: "job", place: "context:one" });
      for (const key of ["one:scan", "one:ingest"]) await queue.send(job(key));
      await hand.begins("one:ingest", "one:scan", "s1");
      expect(hand.begun.find(({ key }) => key === "one:scan")).toEqual(job("one:scan"));
      hand.end("s1");
      await hand.begins("one:ingest", "one:scan", "s1", "s2");
      hand.end("one:ingest");
      hand.fail("one:scan", "the disk is full");
      await expect.poll(() => queue.dead()).toMatchObject([{ run: { kind: "job", key: "one:scan" } }]);
    });

    test("retries a failed run after a backoff, together with one sent in the meantime", async () => {
      // The state between the attempts is read while the backoff lasts.
      const pauseSeconds = fixture.pauseSeconds * Math.ceil(slowness);
      const queue = await open({ pauseSeconds });
      const hand = new ManualWorker(queue);
      await queue.send(runOf("a"));
      await hand.begins("a");
      await queue.send(runOf("a"));
      const failedAt = Date.now();
      hand.fail("a", "not yet");
      await expect.poll(async () => (await queue.depth())[0]).toMatchObject({ waiting: 1, running: 0 });
      // Sending it again must not shorten the backoff.
      await queue.send(runOf("a"));
      await hand.begins("a", "a");
      expect(Date.now() - failedAt).toBeGreaterThan(pauseSeconds * 900);
      hand.end("a");
      await aWhile();
      expect(hand.keys).toEqual(["a", "a"]);
      expect(await queue.dead()).toEqual([]);
    });

    test("a run that exhausts its attempts is a dead letter until it is sent again", async () => {
      const queue = await open({ attempts: 2 });
      const hand = new ManualWorker(queue);
      const dies = async (count: number): Promise<void> => {
        await expect.poll(() => hand.keys.length).toBe(count - 1);
        hand.fail("a", "first");
        await expect.poll(() => hand.keys.length).toBe(count);
        hand.fail("a", "the disk is full");
        await expect.poll(async () => (await queue.dead()).length).toBe(1);
      };
      await queue.send(runOf("a", { priority: 3 }));
      await dies(2);
      const [letter] = await queue.dead();
      expect(letter).toMatchObject({ run: runOf("a", { priority: 3 }), error: "the disk is full", attempts: 2 });
      expect(Date.now() - Date.parse(letter!.at)).toBeLessThan(10_000 * slowness);
      expect(await queue.depth()).toEqual([]);

      expect(await queue.requeue("b")).toBe(false);
      expect(await queue.requeue("a")).toBe(true);
      expect(await queue.dead()).toEqual([]);
      await dies(4);
      await queue.send(runOf("a"));
      expect(await queue.dead()).toEqual([]);
      await dies(6);
      await queue.cancel("a");
      expect(await queue.dead()).toEqual([]);
    });

    test("a run whose workers die is retried at once, and the deaths do not count as failures", async ({ skip }) => {
      if (!fixture.silence) return skip("its workers cannot die without the queue");
      const queue = await open({ attempts: 2, silentMs: SILENT_MS });
      const hand = new ManualWorker(queue, ["any"], 100);
      await queue.send(runOf("a"));
      const deaths = 6;
      const startedAt = Date.now();
      for (let count = 1; count <= deaths; count += 1) {
        await expect.poll(() => hand.keys.length).toBe(count);
        await fixture.silence("a");
      }
      await expect.poll(() => hand.keys.length).toBe(deaths + 1);
      // Backoff would be 1, 2, 4, 8 and 16 s.
      expect(Date.now() - startedAt).toBeLessThan(20_000 * slowness);
      hand.fail("a", "not yet");
      await expect.poll(() => hand.keys.length).toBe(deaths + 2);
      hand.fail("a", "the disk is full");
      await expect.poll(() => queue.dead()).toMatchObject([{ error: "the disk is full", attempts: deaths + 2 }]);
    });

    test("a run that kills every worker ends as a dead letter after 20 deaths", async ({ skip }) => {
      if (!fixture.silence) return skip("its workers cannot die without the queue");
      const queue = await open({ silentMs: SILENT_MS });
      const hand = new ManualWorker(queue, ["any"], 100);
      await queue.send(runOf("a"));
      for (let count = 1; count <= 20; count += 1) {
        expect(await queue.dead()).toEqual([]);
        await expect.poll(() => hand.keys.length).toBe(count);
        await fixture.silence("a");
      }
      await expect.poll(() => queue.dead()).toMatchObject([{ run: runOf("a"), attempts: 20 }]);
      expect(hand.keys).toHaveLength(20);
    });

    test("cancel removes a waiting run, aborts a running one, and prevents a retry", async () => {
      const queue = await open();
      const hand = new ManualWorker(queue, ["any"], 1);
      await queue.send(runOf("a"));
      await hand.begins("a");
      await queue.send(runOf("b"));
      await queue.cancel("b");
      const cancelledAt = Date.now();
      await queue.cancel("a");
      await expect.poll(() => hand.signal("a").aborted, { interval: 10 }).toBe(true);
      expect(Date.now() - cancelledAt).toBeLessThan(2_000 * slowness);
      // A run sent after the cancel is independent of it.
      await queue.send(runOf("a"));
      hand.fail("a", "aborted");
      await hand.begins("a", "a");
      hand.end("a");
      await expect.poll(() => queue.depth()).toEqual([]);
      await aWhile();
      expect(hand.keys).toEqual(["a", "a"]);
    });

    test("reports how many runs wait per place, and for how long", async () => {
      const queue = await open();
      expect(await queue.depth()).toEqual([]);
      const hand = new ManualWorker(queue, ["machine:a"], 1);
      await queue.send(runOf("a1", { place: "machine:a" }));
      await hand.begins("a1");
      await queue.send(runOf("a2", { place: "machine:a", tenant: "other" }));
      await delay(50);
      await queue.send(runOf("a3", { place: "machine:a" }));
      await queue.send(runOf("b1", { place: "needs:gpu=yes" }));
      const depth = await queue.depth();
      expect(depth).toMatchObject([
        { place: "machine:a", waiting: 2, running: 1 },
        { place: "needs:gpu=yes", waiting: 1, running: 0 },
      ]);
      // A timer may fire up to a millisecond early by the wall clock.
      expect(depth[0]!.oldestMs).toBeGreaterThanOrEqual(48);
      expect(depth[0]!.oldestMs).toBeGreaterThan(depth[1]!.oldestMs!);
      hand.end("a1");
      await expect.poll(async () => (await queue.depth())[0]).toMatchObject({ waiting: 1, running: 1 });
    });

    test("a paused worker takes nothing more, and others take over", async () => {
      const queue = await open();
      const one = new ManualWorker(queue);
      await queue.send(runOf("a"));
      await one.begins("a");
      await one.working.pause();
      await queue.send(runOf("b"));
      one.working.look();
      await aWhile();
      expect(one.keys).toEqual(["a"]);
      expect(one.signal("a").aborted).toBe(false);
      const two = new ManualWorker(queue);
      await two.begins("b");
      const stopped = one.working.stop(20_000);
      one.end("a");
      await stopped;
      expect(await queue.depth()).toMatchObject([{ waiting: 0, running: 1 }]);
    });

    test("runs unfinished at stop go to another worker, without using up attempts", async () => {
      const queue = await open({ attempts: 1 });
      const one = new ManualWorker(queue);
      await queue.send(runOf("a"));
      await queue.send(runOf("b"));
      await one.begins("a", "b");
      await queue.send(runOf("b"));
      const signals = [one.signal("a"), one.signal("b")];
      await one.working.stop(50);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
      one.fail("a", "aborted");
      one.fail("b", "aborted");
      const two = new ManualWorker(queue);
      await two.begins("a", "b");
      two.end("a");
      two.end("b");
      await expect.poll(() => queue.depth()).toEqual([]);
      expect(await queue.dead()).toEqual([]);
    });
  });
}
