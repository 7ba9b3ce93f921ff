import { expect, test } from "vitest";
import { nextSelected } from "./next-selected.ts";

test("keeps the selection while it exists", () => {
  expect(nextSelected(["a", "b"], ["z", "a", "b"], "b")).toBe("b");
});

test("selects the next item after the selected one is gone", () => {
  expect(nextSelected(["a", "b", "c"], ["a", "c"], "b")).toBe("c");
  expect(nextSelected(["a", "b", "c"], ["a", "b"], "c")).toBe("b");
  expect(nextSelected(["a"], [], "a")).toBeUndefined();
});

test("selects the first item by default", () => {
  expect(nextSelected([], ["a", "b"], undefined)).toBe("a");
  expect(nextSelected([], ["a"], "unknown")).toBe("a");
});
