import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { QueueOptions, RunQueue } from "../run-queue.ts";
import { Hand, runOf, type QueueFixture } from "./queue-stage.ts";

/** What every queue of runs does. */
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

    test("a run reaches a worker as it was sent, before or after the worker came", async () => {
      const queue = await open();
      const run = runOf("early", {
        kind: "session",
        tenant: "Ä/cme.1",
        place: "needs:gpu=yes,os=a b",
        traceparent: "00-ab",
      });
      await queue.send(run);
      const hand = new Hand(queue, [run.place]);
      await hand.begins("early");
      expect(hand.begun[0]).toEqual(run);
      await queue.send({ ...run, key: "late" });
      await hand.begins("early", "late");
    });

    test("a run that waits already is not sent twice; one that is under way is followed by one more", async () => {
      const queue = await open();
      await queue.send(runOf("a"));
      await queue.send(runOf("a"));
      const hand = new Hand(queue);
      await hand.begins("a");
      await queue.send(runOf("a"));
      await queue.send(runOf("a"));
      await queue.send(runOf("b"));
      // It does not hold up what is behind it.
      await hand.begins("a", "b");
      hand.end("a");
      await hand.begins("a", "a", "b");
      hand.end("a");
      await queue.send(runOf("c"));
      await hand.begins("a", "a", "b", "c");
      expect((await queue.depth())[0]).toMatchObject({ waiting: 0, running: 2 });
    });

    test("whatever is sent is seen by a run that begins after it, and no two of a key are under way at once", async () => {
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

    test("takes no more than there is room for, and looks at once when there is more", async () => {
      const queue = await open();
      for (const key of ["a", "b", "c"]) await queue.send(runOf(key));
      const hand = new Hand(queue, ["any"], 0);
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

    test("takes runs of its places only, and of those that are added", async () => {
      const queue = await open();
      const hand = new Hand(queue, ["machine:one"]);
      await queue.send(runOf("a", { place: "machine:two" }));
      await queue.send(runOf("b", { place: "machine:one" }));
      await hand.begins("b");
      expect(hand.keys).not.toContain("a");
      await hand.working.serve("machine:two");
      await hand.begins("a", "b");
      await queue.send(runOf("c", { place: "machine:two", tenant: "new" }));
      await hand.begins("a", "b", "c");
    });

    test("takes runs of its tenants only, where it is for some", async () => {
      const queue = await open();
      const begun: string[] = [];
      queue.work(
        ["any"],
        () => 10,
        async ({ key }) => void begun.push(key),
        ["acme", "b/c"],
      );
      for (const tenant of ["default", "acme", "b", "b/c"]) await queue.send(runOf(tenant, { tenant }));
      await expect.poll(() => begun.toSorted()).toEqual(["acme", "b/c"]);
      await aWhile();
      expect(begun).toHaveLength(2);
      const hand = new Hand(queue);
      await hand.begins("b", "default");
    });

    test("the most urgent is first", async () => {
      const queue = await open();
      for (const [key, priority] of [
        ["low", -1],
        ["usual", 0],
        ["high", 5],
        ["higher", 6],
      ] as const) {
        await queue.send(runOf(key, { priority, tenant: key }));
      }
      const hand = new Hand(queue, ["any"], 1);
      for (const [index, key] of ["higher", "high", "usual", "low"].entries()) {
        await expect.poll(() => hand.keys[index]).toBe(key);
        hand.end(key);
      }
    });

    test("a tenant with much to do does not hold up another", async () => {
      const queue = await open();
      for (const key of ["a1", "a2", "a3", "a4", "a5", "a6"]) await queue.send(runOf(key, { tenant: "a" }));
      for (const key of ["b1", "b2"]) await queue.send(runOf(key, { tenant: "b" }));
      const hand = new Hand(queue, ["any"], 4);
      await hand.begins("a1", "a2", "b1", "b2");
      expect(hand.underWay).toHaveLength(4);
    });

    test("where there is room for one only, tenants take turns", async () => {
      const queue = await open();
      for (const key of ["a1", "a2", "a3", "a4"]) await queue.send(runOf(key, { tenant: "a" }));
      for (const key of ["b1", "b2"]) await queue.send(runOf(key, { tenant: "b" }));
      const hand = new Hand(queue, ["any"], 1);
      const order = ["a1", "b1", "a2", "b2", "a3", "a4"];
      for (const [index, key] of order.entries()) {
        await expect.poll(() => hand.keys.length).toBe(index + 1);
        expect(hand.keys[index]).toBe(key);
        hand.end(key);
      }
    });

    test("a tenant has no more under way than it may, in all workers together", async () => {
      const queue = await open({ limitOf: (tenant) => (tenant === "small" ? 2 : 100) });
      const hands = [new Hand(queue), new Hand(queue), new Hand(queue)];
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

    test("a run that fails is tried again after a pause, and one that was sent meanwhile waits with it", async () => {
      const queue = await open();
      const hand = new Hand(queue);
      await queue.send(runOf("a"));
      await hand.begins("a");
      await queue.send(runOf("a"));
      const failedAt = Date.now();
      hand.fail("a", "not yet");
      await expect.poll(async () => (await queue.depth())[0]).toMatchObject({ waiting: 1, running: 0 });
      // One that fails is not made to fail faster by whoever sends it again.
      await queue.send(runOf("a"));
      await hand.begins("a", "a");
      expect(Date.now() - failedAt).toBeGreaterThan(fixture.pauseSeconds * 900);
      hand.end("a");
      await aWhile();
      expect(hand.keys).toEqual(["a", "a"]);
      expect(await queue.dead()).toEqual([]);
    });

    test("a run that fails to the last is a dead letter until it is sent again", async () => {
      const queue = await open({ attempts: 2 });
      const hand = new Hand(queue);
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
      expect(Date.now() - Date.parse(letter!.at)).toBeLessThan(10_000);
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

    test("a run that is cancelled is gone, or hears of it soon and is not tried again", async () => {
      const queue = await open();
      const hand = new Hand(queue, ["any"], 1);
      await queue.send(runOf("a"));
      await hand.begins("a");
      await queue.send(runOf("b"));
      await queue.cancel("b");
      const cancelledAt = Date.now();
      await queue.cancel("a");
      await expect.poll(() => hand.signal("a").aborted, { interval: 10 }).toBe(true);
      expect(Date.now() - cancelledAt).toBeLessThan(2_000);
      // What is sent after that is another run.
      await queue.send(runOf("a"));
      hand.fail("a", "aborted");
      await hand.begins("a", "a");
      hand.end("a");
      await aWhile();
      expect(hand.keys).toEqual(["a", "a"]);
      expect(await queue.depth()).toEqual([]);
    });

    test("says how much waits at each place, and for how long", async () => {
      const queue = await open();
      expect(await queue.depth()).toEqual([]);
      const hand = new Hand(queue, ["machine:a"], 1);
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

    test("a worker that pauses takes nothing more, and others take what it leaves", async () => {
      const queue = await open();
      const one = new Hand(queue);
      await queue.send(runOf("a"));
      await one.begins("a");
      await one.working.pause();
      await queue.send(runOf("b"));
      one.working.look();
      await aWhile();
      expect(one.keys).toEqual(["a"]);
      expect(one.signal("a").aborted).toBe(false);
      const two = new Hand(queue);
      await two.begins("b");
      const stopped = one.working.stop(20_000);
      one.end("a");
      await stopped;
      expect(await queue.depth()).toMatchObject([{ waiting: 0, running: 1 }]);
    });

    test("what a worker leaves unfinished when it stops goes to another, with all its attempts", async () => {
      const queue = await open({ attempts: 1 });
      const one = new Hand(queue);
      await queue.send(runOf("a"));
      await queue.send(runOf("b"));
      await one.begins("a", "b");
      await queue.send(runOf("b"));
      const signals = [one.signal("a"), one.signal("b")];
      await one.working.stop(50);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
      one.fail("a", "aborted");
      one.fail("b", "aborted");
      const two = new Hand(queue);
      await two.begins("a", "b");
      two.end("a");
      two.end("b");
      await expect.poll(() => queue.depth()).toEqual([]);
      expect(await queue.dead()).toEqual([]);
    });
  });
}
