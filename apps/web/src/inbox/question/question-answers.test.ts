import { expect, test } from "vitest";
import { answersOf, choose, NO_CHOICE, questionsOf, write } from "./question-answers.ts";

const [one, several] = questionsOf({
  questions: [
    { question: "Which?", options: [{ label: "A" }, { label: "B" }] },
    { question: "What all?", multiSelect: true, options: [{ label: "C" }, { label: "D" }] },
  ],
});

test("selects one option, or several", () => {
  expect(choose(choose(NO_CHOICE, "A", one!), "B", one!).labels).toEqual(["B"]);
  const both = choose(choose(NO_CHOICE, "C", several!), "D", several!);
  expect(both.labels).toEqual(["C", "D"]);
  expect(choose(both, "C", several!).labels).toEqual(["D"]);
});

test("free text replaces a single choice and adds to several", () => {
  expect(write(choose(NO_CHOICE, "A", one!), "Neither", one!)).toEqual({ labels: [], words: "Neither" });
  expect(write(choose(NO_CHOICE, "C", several!), "and E", several!)).toEqual({ labels: ["C"], words: "and E" });
});

test("returns no answers until all questions have one", () => {
  const first = choose(NO_CHOICE, "A", one!);
  expect(answersOf([one!, several!], [first])).toBeUndefined();
  expect(answersOf([one!, several!], [first, { labels: ["C"], words: " E " }])).toEqual({
    "Which?": "A",
    "What all?": ["C", "E"],
  });
});

test("an input without questions gives none", () => {
  expect(questionsOf({ anything: 1 })).toEqual([]);
});
