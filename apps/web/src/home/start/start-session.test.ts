import { expect, test } from "vitest";

// Node has no localStorage.
const store = new Map<string, string>();
Object.assign(globalThis, {
  localStorage: { getItem: (key: string) => store.get(key) ?? null, setItem: store.set.bind(store) },
  addEventListener: () => undefined,
  document: { visibilityState: "hidden" },
});
const { readBudget, titleOf } = await import("./start-session.ts");

test("the title is the first line of the prompt, cut between words", () => {
  expect(titleOf("  Fix the login\n\nIt fails for long names.")).toBe("Fix the login");
  const long = titleOf("word ".repeat(40));
  expect(long.length).toBeLessThanOrEqual(82);
  expect(long).toMatch(/word …$/);
});

test("a budget is an amount in dollars and cents, or empty", () => {
  expect(readBudget("")).toBeUndefined();
  expect(readBudget("2.50")).toBe(2.5);
  expect(readBudget("$ 3")).toBe(3);
  expect(readBudget("1,5")).toBe(1.5);
  expect(readBudget("much")).toBeNaN();
  expect(readBudget("0")).toBeNaN();
});
