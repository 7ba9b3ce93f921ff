import { expect, test } from "vitest";
import { encodeMessage, MessageReader } from "./message-stream.ts";

const MESSAGES = [
  { id: 1, result: { text: "größer – 世界" } },
  { method: "a/b", params: [] },
];

test("reads messages wherever the output is cut", () => {
  const bytes = Buffer.concat(MESSAGES.map(encodeMessage));
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const reader = new MessageReader();
    const read = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut))];
    expect(read).toEqual(MESSAGES.map((message) => ({ jsonrpc: "2.0", ...message })));
  }
});

test("reads a message byte by byte, with other headers", () => {
  const reader = new MessageReader();
  const bytes = Buffer.from('Content-Type: application/json\r\ncontent-length: 12\r\n\r\n{"a": "b{}"}');
  expect([...bytes].flatMap((byte) => reader.push(Buffer.from([byte])))).toEqual([{ a: "b{}" }]);
});

test.each([
  ["Hello!\r\n\r\n", "without a length"],
  ["x".repeat(5_000), "no header"],
  ["Content-Length: 99999999999\r\n\r\n", "99999999999 bytes"],
  ["Content-Length: 3\r\n\r\n{a}", "JSON"],
])("refuses other output: %.20s", (output, why) => {
  expect(() => new MessageReader().push(Buffer.from(output))).toThrow(why);
});
