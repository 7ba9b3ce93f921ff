import { expect, test } from "vitest";
import { nextSelected } from "./next-selected.ts";

test("what is open stays open for as long as it is there", () => {
  expect(nextSelected(["a", "b"], ["z", "a", "b"], "b")).toBe("b");
});

test("what comes after the one that is gone is next", () => {
  expect(nextSelected(["a", "b", "c"], ["a", "c"], "b")).toBe("c");
  expect(nextSelected(["a", "b", "c"], ["a", "b"], "c")).toBe("b");
  expect(nextSelected(["a"], [], "a")).toBeUndefined();
});

test("without one, the first is", () => {
  expect(nextSelected([], ["a", "b"], undefined)).toBe("a");
  expect(nextSelected([], ["a"], "unknown")).toBe("a");
});
