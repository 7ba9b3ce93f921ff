import { expect, test, vi } from "vitest";
import { defaultProcessLimit } from "./process-limit.ts";
import { ProcessSlots, type ProcessSlot } from "./process-slots.ts";

const GB = 1024 ** 3;

/** Takes a slot for an owner and notes who was served. */
function queue(slots: ProcessSlots, owner: string, served: string[], name = owner) {
  const onWait = vi.fn<(ahead: number) => void>();
  const abort = new AbortController();
  const taken = slots.take({ owner, onWait, signal: abort.signal });
  void taken.then(
    () => served.push(name),
    () => undefined,
  );
  return { taken, onWait, abort };
}

test("serves requests in order and tells each how many are ahead", async () => {
  const slots = new ProcessSlots(1);
  const served: string[] = [];
  const first = await slots.take({ owner: "a" });
  const second = queue(slots, "a", served, "second");
  const third = queue(slots, "a", served, "third");
  expect(second.onWait.mock.calls).toEqual([[0]]);
  expect(third.onWait.mock.calls).toEqual([[1]]);
  first.free();
  first.free();
  (await second.taken).free();
  await third.taken;
  expect(served).toEqual(["second", "third"]);
  expect(third.onWait.mock.calls).toEqual([[1], [0]]);
});

test("serves the owner with the fewest busy processes first", async () => {
  const slots = new ProcessSlots(2);
  const served: string[] = [];
  const busy = [await slots.take({ owner: "a" }), await slots.take({ owner: "a" })];
  const waiting = ["a1", "a2", "b1", "b2"].map((name) => queue(slots, name[0]!, served, name));
  // One of b is ahead of all of a.
  expect(waiting.map(({ onWait }) => onWait.mock.lastCall?.[0])).toEqual([2, 3, 0, 1]);
  busy[0]!.free();
  (await waiting[2]!.taken).free();
  await waiting[3]!.taken;
  busy[1]!.free();
  await waiting[0]!.taken;
  expect(served).toEqual(["b1", "b2", "a1"]);
});

test("a request that is given up is not served, and those behind it move up", async () => {
  const slots = new ProcessSlots(1);
  const first = await slots.take({ owner: "a" });
  const second = queue(slots, "a", []);
  const third = queue(slots, "a", []);
  second.abort.abort();
  await expect(second.taken).rejects.toMatchObject({ code: "aborted" });
  expect(third.onWait.mock.lastCall).toEqual([0]);
  first.free();
  await third.taken;
});

test("ends idle processes for waiting ones: the longest idle first, one that waits for a person last", async () => {
  const slots = new ProcessSlots(3);
  const ended: string[] = [];
  const idle = async (name: string, isWaiting = false): Promise<ProcessSlot> => {
    const slot = await slots.take({ owner: "a" });
    slot.setIdle(async () => {
      ended.push(name);
      slot.free();
    }, isWaiting);
    return slot;
  };
  await idle("asks", true);
  await idle("old");
  await idle("new");
  await slots.take({ owner: "a" });
  expect(ended).toEqual(["old"]);
  await slots.take({ owner: "a" });
  await slots.take({ owner: "a" });
  expect(ended).toEqual(["old", "new", "asks"]);
});

test("a process that is busy again is not ended; the next idle one is", async () => {
  const slots = new ProcessSlots(2);
  const [first, second] = [await slots.take({ owner: "a" }), await slots.take({ owner: "a" })];
  first.setIdle(async () => first.setBusy());
  second.setIdle(async () => second.free());
  await slots.take({ owner: "a" });
  expect(first.isWanted).toBe(false);
  const next = queue(slots, "a", []);
  expect(first.isWanted).toBe(true);
  first.free();
  await next.taken;
});

test("a slot that is lent lets the work inside it have a process", async () => {
  const slots = new ProcessSlots(1);
  const outer = await slots.take({ owner: "a" });
  await outer.lend(async () => (await slots.take({ owner: "a" })).free());
  expect(slots.tryTake("a")).toBeUndefined();
  outer.free();
  expect(slots.tryTake("a")).toBeDefined();
});

test("the default follows memory and cores", () => {
  expect(defaultProcessLimit({ memory: 1 * GB, cores: 2 })).toBe(2);
  expect(defaultProcessLimit({ memory: 4 * GB, cores: 4 })).toBe(10);
  expect(defaultProcessLimit({ memory: 64 * GB, cores: 4 })).toBe(32);
  expect(defaultProcessLimit()).toBeGreaterThanOrEqual(2);
});
