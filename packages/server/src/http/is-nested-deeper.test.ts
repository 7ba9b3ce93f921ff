import { expect, inject, test } from "vitest";
import { isNestedDeeper } from "./is-nested-deeper.ts";

const deeper = (json: string, most: number): boolean => isNestedDeeper(Buffer.from(json), most);

test("counts brackets of both kinds, and how many are open at once", () => {
  expect(deeper('{"a":[{}]}', 3)).toBe(false);
  expect(deeper('{"a":[{}]}', 2)).toBe(true);
  expect(deeper("[],[],[]", 1)).toBe(false);
  expect(deeper("", 0)).toBe(false);
});

test.each([
  ['"[[["', false],
  [String.raw`"\"[[["`, false],
  [String.raw`"\\\"[[["`, false],
  [String.raw`["\\",[[]]]`, true],
  [String.raw`["a\\\\",[[]]]`, true],
  ['"[[[', false],
  [String.raw`"\"`, false],
])("strings are passed over, however they are written: %s", (json, expected) => {
  expect(deeper(json, 2)).toBe(expected);
});

test("however deep it goes on, the answer is there at once", () => {
  const begun = performance.now();
  expect(deeper("[".repeat(30_000_000), 200)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(1_000 * inject("slowness"));
});
