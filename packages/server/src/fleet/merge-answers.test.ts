import { expect, test } from "vitest";
import { mergeAnswers } from "./merge-answers.ts";

test("lists follow each other, numbers are added, and the rest is as the first says", () => {
  const stopped = { at: "now", by: "a" };
  expect(
    mergeAnswers([
      { data: [1], interrupted: 0, stopped },
      { data: [2, 3], interrupted: 2, stopped: { at: "later", by: "a" } },
    ]),
  ).toEqual({ data: [1, 2, 3], interrupted: 2, stopped });
});
