import { questionAnswers, questionInput, RequestError, type Question, type ToolResultContent } from "@tandem/protocol";

/** The answers by question, in Claude Code's form: text, with commas between several choices. */
export type Answers = Record<string, string>;

/**
 * Parses the answers from a result: JSON or, for a single question, plain text. Throws `invalid_request` if a question has no
 * answer, an answer has no question, or too many choices are given.
 */
export function readAnswers(input: Record<string, unknown>, content: readonly ToolResultContent[]): Answers {
  const { questions } = questionInput.parse(input);
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const given = parse(text, questions);
  for (const key of Object.keys(given)) {
    if (!questions.some((question) => isNamed(question, key))) {
      throw invalid(`there is no question ${JSON.stringify(key)}; the questions are ${namesOf(questions)}`);
    }
  }
  return Object.fromEntries(questions.map((question) => [question.question, answerTo(question, given)]));
}

function parse(text: string, questions: readonly Question[]): Record<string, string | string[]> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (questions.length === 1) return { [questions[0]!.question]: text };
    throw invalid(`there are ${questions.length} questions, so that their answers have to be JSON: ${FORM}`);
  }
  const parsed = questionAnswers.safeParse(value);
  if (parsed.success) return parsed.data.answers;
  // A JSON number or string is an answer, too.
  if (questions.length === 1 && (typeof value !== "object" || value === null)) {
    return { [questions[0]!.question]: typeof value === "string" ? value : text };
  }
  throw invalid(`expected ${FORM}`);
}

const FORM = '{"answers": {"QUESTION": "LABEL, or words of your own", "QUESTION": ["LABEL", "LABEL"]}}';

function answerTo(question: Question, given: Record<string, string | string[]>): string {
  const [, answer] = Object.entries(given).find(([key]) => isNamed(question, key)) ?? [];
  const chosen = [answer ?? []].flat().map((one) => one.trim());
  const name = JSON.stringify(question.question);
  if (chosen.length === 0 || chosen.some((one) => one === "")) throw invalid(`${name} has no answer`);
  if (chosen.length > 1 && !question.multiSelect) throw invalid(`${name} takes one answer, not ${chosen.length}`);
  return chosen.join(", ");
}

const isNamed = ({ question, header }: Question, key: string): boolean => key === question || key === header;

const namesOf = (questions: readonly Question[]): string =>
  questions.map(({ question }) => JSON.stringify(question)).join(", ");

/** The text for the model if the asking process has ended, worded like Claude Code's own. */
export const inWords = (answers: Answers): string =>
  `The user answered: ${Object.entries(answers)
    .map(([question, answer]) => `${JSON.stringify(question)}=${JSON.stringify(answer)}`)
    .join(", ")}.`;

/** The reason given for refusing to answer. */
export const refusal = (content: readonly ToolResultContent[]): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n") || "The user did not answer.";

const invalid = (words: string): RequestError => new RequestError("invalid_request", `content: ${words}.`);
