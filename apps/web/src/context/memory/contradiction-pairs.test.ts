import { expect, test } from "vitest";
import { contradictionPairs } from "./contradiction-pairs.ts";

const ids = (memories: { id: string; contradicts: string[] }[]) =>
  contradictionPairs(memories).map((pair) => pair.map(({ id }) => id));

test("has each two once, whichever says so", () => {
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

test("passes over what is not there", () => expect(ids([{ id: "a", contradicts: ["gone"] }])).toEqual([]));
