import type { Question } from "@tandem/protocol";

/** The selected options and the free text for one question. */
export interface QuestionAnswer {
  labels: readonly string[];
  words: string;
}

export const NO_CHOICE: QuestionAnswer = { labels: [], words: "" };

/** The server validates questions before it asks, so an invalid input is simply no question here. */
export function questionsOf(input: unknown): Question[] {
  const asked = (input as { questions?: unknown } | null | undefined)?.questions;
  return Array.isArray(asked)
    ? asked.flatMap((question) => (isQuestion(question) ? [withDefaults(question)] : []))
    : [];
}

const isQuestion = (value: unknown): value is Question =>
  typeof value === "object" && value !== null && "question" in value && typeof value.question === "string";

const withDefaults = (question: Question): Question => ({ ...question, options: question.options ?? [] });

/** A single choice is replaced; multiple choices are toggled. */
export function choose({ labels, words }: QuestionAnswer, label: string, { multiSelect }: Question): QuestionAnswer {
  if (!multiSelect) return { labels: [label], words: "" };
  const rest = labels.filter((other) => other !== label);
  return { words, labels: rest.length < labels.length ? rest : [...labels, label] };
}

/** Free text replaces a single choice and adds to multiple choices. */
export const write = ({ labels }: QuestionAnswer, words: string, { multiSelect }: Question): QuestionAnswer => ({
  words,
  labels: multiSelect || words.trim() === "" ? labels : [],
});

/** Undefined until every question is answered. */
export function answersOf(
  questions: readonly Question[],
  choices: readonly QuestionAnswer[],
): Record<string, string | string[]> | undefined {
  const answers: Record<string, string | string[]> = {};
  for (const [index, { question, multiSelect }] of questions.entries()) {
    const { labels, words } = choices[index] ?? NO_CHOICE;
    const answer = [...labels, ...(words.trim() === "" ? [] : [words.trim()])];
    if (answer.length === 0) return undefined;
    answers[question] = multiSelect ? answer : answer[0]!;
  }
  return answers;
}
