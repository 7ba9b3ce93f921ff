import { expect, test } from "vitest";
import { ansiSpans } from "./ansi-spans.ts";

test("plain text is one span", () => {
  expect(ansiSpans("hello\n")).toEqual([{ text: "hello\n", className: "" }]);
  expect(ansiSpans("")).toEqual([]);
});

test("colours and weights become classes until they are reset", () => {
  expect(ansiSpans("\u001b[1;32mok\u001b[0m done")).toEqual([
    { text: "ok", className: "text-good font-semibold" },
    { text: " done", className: "" },
  ]);
  expect(ansiSpans("\u001b[38;5;196mred\u001b[39m \u001b[38;2;20;60;250mblue")).toEqual([
    { text: "red", className: "text-bad" },
    { text: " ", className: "" },
    { text: "blue", className: "text-accent" },
  ]);
});

test("drops cursor movements and links", () => {
  expect(ansiSpans("a\u001b[2Kb\u001b]8;;https://example.com\u0007c\u001b]8;;\u0007")).toEqual([
    { text: "abc", className: "" },
  ]);
});

test("keeps the last state of an overwritten line", () => {
  expect(ansiSpans("10 %\r50 %\r100 %\r\nready")).toEqual([{ text: "100 %\nready", className: "" }]);
});
