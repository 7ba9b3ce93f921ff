import { expect, inject, test } from "vitest";
import { isNestedDeeper } from "./is-nested-deeper.ts";

const deeper = (json: string, most: number): boolean => isNestedDeeper(Buffer.from(json), most);

test("counts the open brackets of both kinds", () => {
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
])("strings are skipped, however they are escaped: %s", (json, expected) => {
  expect(deeper(json, 2)).toBe(expected);
});

test("arbitrary depth is rejected at once", () => {
  const begun = performance.now();
  expect(deeper("[".repeat(30_000_000), 200)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(1_000 * inject("slowness"));
});
