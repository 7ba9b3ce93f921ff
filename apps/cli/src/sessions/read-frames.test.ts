import { expect, test } from "vitest";
import { readFrames } from "./read-frames.ts";

async function frames(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found = [];
  for await (const frame of readFrames(chunks())) found.push(frame);
  return found;
}

test.each([1, 2, 3, 7, 1_000])("frames come out whole, whatever pieces of %i bytes they come in", async (size) => {
  const text = `: heartbeat\n\nevent: message\nid: 7\ndata: {"text":"Grüße 🚲"}\n\nevent: message\ndata: {"a":\ndata: 1}\n\n`;
  expect(await frames(text, size)).toEqual([
    { id: "7", data: '{"text":"Grüße 🚲"}' },
    { id: undefined, data: '{"a":\n1}' },
  ]);
});

test("a frame that was cut off is not one", async () => {
  expect(await frames('id: 1\ndata: {"a":1}\n\nid: 2\ndata: {"b', 5)).toEqual([{ id: "1", data: '{"a":1}' }]);
});
