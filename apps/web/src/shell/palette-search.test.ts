import { expect, test } from "vitest";
import { rankAction } from "./palette-search.ts";

test.each([
  ["undo", "Rewind"],
  ["rewind", "Rewind"],
  ["fork", "Fork"],
  ["compare", "Compare sessions"],
  ["inbox", "Go to inbox"],
  ["approve", "Go to inbox"],
  ["new", "New session"],
  ["export", "Export as Markdown"],
  ["sign out", "Sign out"],
  ["logout", "Sign out"],
  ["help", "Keyboard shortcuts"],
  ["shortcuts", "Keyboard shortcuts"],
  ["cost", "Budgets"],
  ["diff", "Go to changes"],
  ["theme", "Theme: dark"],
  ["chat", "Go to chat"],
  ["kpi", "Metrics"],
  ["semantic", "Metrics"],
  ["report", "Query metrics"],
])("%s finds %s", (typed, label) => {
  expect(rankAction(label, typed)).toBeDefined();
});

test("the action itself ranks before one that only has it as a synonym, and other words find nothing", () => {
  expect(rankAction("Fork", "fork")).toBeLessThan(rankAction("Compare sessions", "fork")!);
  expect(rankAction("Fork", "inbox")).toBeUndefined();
  expect(rankAction("Fork", "")).toBe(0);
});
