import { describe, expect, test } from "vitest";
import { inWords, readAnswers } from "./questions.ts";

const one = { questions: [{ question: "Which?", header: "W", options: [{ label: "A" }, { label: "B" }] }] };
const several = { questions: [{ question: "Which?", options: [{ label: "A" }, { label: "B" }], multiSelect: true }] };
const said = (text: string) => [{ type: "text" as const, text }];

describe("answers to questions", () => {
  test.each([
    ["plain words", one, "something else", "something else"],
    ["a number, which is words, too", one, "42", "42"],
    ["a quotation", one, '"A"', "A"],
    ["a label, by the question", one, '{"answers": {"Which?": "A"}}', "A"],
    ["a label, by the header", one, '{"answers": {"W": "B"}}', "B"],
    ["a list of one", one, '{"answers": {"Which?": ["A"]}}', "A"],
    ["several", several, '{"answers": {"Which?": ["A", "B"]}}', "A, B"],
  ])("%s", (_, input, text, expected) => {
    expect(readAnswers(input, said(text))).toEqual({ "Which?": expected });
  });

  test.each([
    ["nothing", one, ""],
    ["an empty list", one, '{"answers": {"Which?": []}}'],
    ["two where one is asked for", one, '{"answers": {"Which?": ["A", "B"]}}'],
    ["another form", one, '{"Which?": "A"}'],
    ["another question", one, '{"answers": {"Who?": "A"}}'],
  ])("but not %s", (_, input, text) => {
    expect(() => readAnswers(input, said(text))).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("are worded like Claude Code's own", () => {
    expect(inWords({ "Which?": "A" })).toBe('The user answered: "Which?"="A".');
  });
});
