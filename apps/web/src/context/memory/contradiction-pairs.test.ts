import { expect, test } from "vitest";
import { contradictionPairs } from "./contradiction-pairs.ts";

const ids = (memories: { id: string; contradicts: string[] }[]) =>
  contradictionPairs(memories).map((pair) => pair.map(({ id }) => id));

test("lists each pair once, whichever side names it", () => {
  expect(
    ids([
      { id: "a", contradicts: ["b"] },
      { id: "b", contradicts: ["a"] },
    ]),
  ).toEqual([["a", "b"]]);
  expect(
    ids([
      { id: "a", contradicts: [] },
      { id: "b", contradicts: ["a"] },
    ]),
  ).toEqual([["b", "a"]]);
});

test("ignores memories that no longer exist", () => expect(ids([{ id: "a", contradicts: ["gone"] }])).toEqual([]));
