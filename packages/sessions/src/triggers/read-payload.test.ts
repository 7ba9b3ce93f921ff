import { expect, test } from "vitest";
import { readPayload } from "./read-payload.ts";

const read = (text: string) => readPayload({ header: () => undefined, body: Buffer.from(text) });

test("a list with very many entries is read", () => {
  const list = Array.from({ length: 500_000 }, () => 0);
  expect(read(JSON.stringify({ list }))).toEqual({ list });
});

test("deep nesting and other text than JSON are refused", () => {
  const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(() => read(nested(100))).not.toThrow();
  expect(() => read(nested(101))).toThrow("nested deeper");
  expect(() => read(nested(1_000_000))).toThrow("nested deeper");
  expect(() => read("a=1")).toThrow("not JSON");
});
