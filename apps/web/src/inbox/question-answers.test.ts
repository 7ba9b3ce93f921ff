import { expect, test } from "vitest";
import { answersOf, choose, NO_CHOICE, questionsOf, write } from "./question-answers.ts";

const [one, several] = questionsOf({
  questions: [
    { question: "Which?", options: [{ label: "A" }, { label: "B" }] },
    { question: "What all?", multiSelect: true, options: [{ label: "C" }, { label: "D" }] },
  ],
});

test("one of several, or some of them", () => {
  expect(choose(choose(NO_CHOICE, "A", one!), "B", one!).labels).toEqual(["B"]);
  const both = choose(choose(NO_CHOICE, "C", several!), "D", several!);
  expect(both.labels).toEqual(["C", "D"]);
  expect(choose(both, "C", several!).labels).toEqual(["D"]);
});

test("words of one's own take the place of a choice, and stand beside several", () => {
  expect(write(choose(NO_CHOICE, "A", one!), "Neither", one!)).toEqual({ labels: [], words: "Neither" });
  expect(write(choose(NO_CHOICE, "C", several!), "and E", several!)).toEqual({ labels: ["C"], words: "and E" });
});

test("there are no answers until there are all", () => {
  const first = choose(NO_CHOICE, "A", one!);
  expect(answersOf([one!, several!], [first])).toBeUndefined();
  expect(answersOf([one!, several!], [first, { labels: ["C"], words: " E " }])).toEqual({
    "Which?": "A",
    "What all?": ["C", "E"],
  });
});

test("what is no question has none", () => {
  expect(questionsOf({ anything: 1 })).toEqual([]);
});
