import { expect, test } from "vitest";
import { AsyncQueue } from "./async-queue.ts";

async function received(queue: AsyncQueue<number>): Promise<(number | string)[]> {
  const items: (number | string)[] = [];
  try {
    for await (const item of queue) items.push(item);
  } catch (error) {
    items.push(String(error));
  }
  return items;
}

test("delivers items from before and during the iteration, then ends", async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1, 2);
  const items = received(queue);
  await Promise.resolve();
  queue.push(3);
  queue.end();
  expect(await items).toEqual([1, 2, 3]);
});

test("throws a failure after the items", async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.fail("broken");
  queue.fail("later");
  expect(await received(queue)).toEqual([1, "broken"]);
});

test("ends with its signal, without a failure that comes with it", async () => {
  const stop = new AbortController();
  const queue = new AsyncQueue<number>(stop.signal);
  queue.push(1);
  queue.fail("aborted");
  stop.abort();
  expect(await received(queue)).toEqual([1]);
  expect(await received(new AsyncQueue<number>(stop.signal))).toEqual([]);
});
