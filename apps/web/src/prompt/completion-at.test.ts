import { expect, test } from "vitest";
import { completed, completionAt } from "./completion-at.ts";

test("completes commands only at the start", () => {
  expect(completionAt("/rev", 4)).toEqual({ kind: "command", query: "rev", from: 0, to: 4 });
  expect(completionAt("/", 1)).toMatchObject({ kind: "command", query: "" });
  expect(completionAt("see /rev", 8)).toBeUndefined();
  expect(completionAt("/review it", 10)).toBeUndefined();
});

test("completes files after an @ at the start of a word", () => {
  expect(completionAt("look at @src/re", 15)).toEqual({ kind: "file", query: "src/re", from: 8, to: 15 });
  expect(completionAt("mail me@home", 12)).toBeUndefined();
  expect(completionAt("@a b", 2)).toMatchObject({ kind: "file", query: "a" });
});

test("a suggestion replaces the typed text", () => {
  expect(completed("look at @src/re now", completionAt("look at @src/re now", 15)!, "src/retry.js")).toEqual({
    text: "look at @src/retry.js now",
    caret: 22,
  });
  expect(completed("/rev", completionAt("/rev", 4)!, "review")).toEqual({ text: "/review ", caret: 8 });
});
