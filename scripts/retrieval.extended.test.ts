import { expect, test } from "vitest";
import { measureRetrieval } from "../bench/retrieval/measure-retrieval.ts";
import { QUESTIONS } from "../bench/retrieval/questions.ts";

/** `npm run bench retrieval` prints the figures; this is the target that they may not fall below. */
test("search finds the tables that questions need", async () => {
  const { recall, mrr, missed } = await measureRetrieval(QUESTIONS, "plain");
  expect(QUESTIONS.length).toBeGreaterThanOrEqual(40);
  expect(recall, JSON.stringify(missed)).toBeGreaterThanOrEqual(0.85);
  expect(mrr).toBeGreaterThanOrEqual(0.8);
});
