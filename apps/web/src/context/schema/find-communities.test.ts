import { expect, test } from "vitest";
import { findCommunities } from "./find-communities.ts";

test("dense parts are communities, a single link between them does not merge them, and lone nodes stay alone", () => {
  const clique = (from: number): [number, number][] =>
    [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].filter((b) => b > a).map((b): [number, number] => [from + a, from + b]));
  const found = findCommunities(9, [...clique(0), ...clique(4), [3, 4]]);
  expect(new Set(found.slice(0, 4)).size).toBe(1);
  expect(new Set(found.slice(4, 8)).size).toBe(1);
  expect(new Set([found[0], found[4], found[8]]).size).toBe(3);
  expect(findCommunities(9, [...clique(0), ...clique(4), [3, 4]])).toEqual(found);
});
