import { expect, test } from "vitest";
import { completed, completionAt } from "./completion-at.ts";

test("a command is named at the beginning alone", () => {
  expect(completionAt("/rev", 4)).toEqual({ kind: "command", query: "rev", from: 0, to: 4 });
  expect(completionAt("/", 1)).toMatchObject({ kind: "command", query: "" });
  expect(completionAt("see /rev", 8)).toBeUndefined();
  expect(completionAt("/review it", 10)).toBeUndefined();
});

test("a file is named after an @ that begins a word", () => {
  expect(completionAt("look at @src/re", 15)).toEqual({ kind: "file", query: "src/re", from: 8, to: 15 });
  expect(completionAt("mail me@home", 12)).toBeUndefined();
  expect(completionAt("@a b", 2)).toMatchObject({ kind: "file", query: "a" });
});

test("what is chosen takes the place of what was typed", () => {
  expect(completed("look at @src/re now", completionAt("look at @src/re now", 15)!, "src/retry.js")).toEqual({
    text: "look at @src/retry.js now",
    caret: 22,
  });
  expect(completed("/rev", completionAt("/rev", 4)!, "review")).toEqual({ text: "/review ", caret: 8 });
});
