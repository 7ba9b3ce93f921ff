import type { Question } from "@tandem/protocol";

/** What was chosen and written for one question. */
export interface Chosen {
  labels: readonly string[];
  words: string;
}

export const NO_CHOICE: Chosen = { labels: [], words: "" };

/** The server has checked the call before anybody was asked: what is no question here is none there. */
export function questionsOf(input: unknown): Question[] {
  const asked = (input as { questions?: unknown } | null | undefined)?.questions;
  return Array.isArray(asked)
    ? asked.flatMap((question) => (isQuestion(question) ? [withDefaults(question)] : []))
    : [];
}

const isQuestion = (value: unknown): value is Question =>
  typeof value === "object" && value !== null && "question" in value && typeof value.question === "string";

const withDefaults = (question: Question): Question => ({ ...question, options: question.options ?? [] });

/** Of one, choosing another takes the first away; of several, it is added or taken away. */
export function choose({ labels, words }: Chosen, label: string, { multiSelect }: Question): Chosen {
  if (!multiSelect) return { labels: [label], words: "" };
  const rest = labels.filter((other) => other !== label);
  return { words, labels: rest.length < labels.length ? rest : [...labels, label] };
}

/** Words of one's own stand in for a choice, and beside those of several. */
export const write = ({ labels }: Chosen, words: string, { multiSelect }: Question): Chosen => ({
  words,
  labels: multiSelect || words.trim() === "" ? labels : [],
});

/** Undefined until every question has an answer. */
export function answersOf(
  questions: readonly Question[],
  choices: readonly Chosen[],
): Record<string, string | string[]> | undefined {
  const answers: Record<string, string | string[]> = {};
  for (const [index, { question, multiSelect }] of questions.entries()) {
    const { labels, words } = choices[index] ?? NO_CHOICE;
    const said = [...labels, ...(words.trim() === "" ? [] : [words.trim()])];
    if (said.length === 0) return undefined;
    answers[question] = multiSelect ? said : said[0]!;
  }
  return answers;
}
