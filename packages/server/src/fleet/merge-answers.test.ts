import { expect, test } from "vitest";
import { mergeAnswers } from "./merge-answers.ts";

test("lists are concatenated, numbers added, and other fields taken from the first", () => {
  const stopped = { at: "now", by: "a" };
  expect(
    mergeAnswers([
      { data: [1], interrupted: 0, stopped },
      { data: [2, 3], interrupted: 2, stopped: { at: "later", by: "a" } },
    ]),
  ).toEqual({ data: [1, 2, 3], interrupted: 2, stopped });
});
