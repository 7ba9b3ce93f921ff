import { expect, test } from "vitest";
import { readFrames } from "./read-frames.ts";

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 3, 7, 1_000])("frames are whole when they arrive in chunks of %i bytes", async (size) => {
  const text = `: heartbeat\n\nevent: tandem.resync\nid: 7\ndata: {"text":"Grüße 🚲"}\n\ndata: {"a":\ndata: 1}\n\n`;
  expect(await collect(readFrames(chunksOf(text, size)))).toEqual([
    { name: "tandem.resync", id: "7", data: '{"text":"Grüße 🚲"}' },
    { name: "message", id: undefined, data: '{"a":\n1}' },
  ]);
});

test("a frame that was cut off is not delivered", async () => {
  const text = 'id: 1\ndata: {"a":1}\n\nid: 2\ndata: {"b';
  expect(await collect(readFrames(chunksOf(text, 5)))).toEqual([{ name: "message", id: "1", data: '{"a":1}' }]);
});

test("a frame that is too long is rejected before it is complete; heartbeats do not count", async () => {
  const heartbeats = ": heartbeat\n\n".repeat(100);
  const short = `${heartbeats}data: ${"x".repeat(90)}\n\n`;
  expect(await collect(readFrames(chunksOf(short, 10), { maxLength: 100 }))).toHaveLength(1);
  const endless = chunksOf(`data: ${"x".repeat(1_000_000)}`, 10);
  let bytes = 0;
  const read = collect(readFrames(endless, { maxLength: 100, onBytes: () => (bytes += 10) }));
  await expect(read).rejects.toThrow("exceeded");
  expect(bytes).toBeLessThan(200);
});

test("a reader that stops early cancels the stream", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const _ of readFrames(body)) break;
  expect(isCancelled).toBe(true);
});
