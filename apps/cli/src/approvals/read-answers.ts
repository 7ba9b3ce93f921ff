import { questionInput, TandemError, type Approval } from "@tandem/protocol";

/** Parses answers from the command line: `NAME=ANSWER` for each question, or only the answer to a single question. */
export function readAnswers({ input }: Approval, words: readonly string[]): Record<string, string | string[]> {
  const { questions } = questionInput.parse(input);
  if (questions.length === 1 && !words.some((word) => isNamed(word))) {
    const [only] = questions;
    return { [only!.question]: only!.multiSelect && words.length > 1 ? [...words] : words.join(" ") };
  }
  const answers: Record<string, string | string[]> = {};
  for (const word of words) {
    const [, name, answer] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || answer === undefined) {
      throw new TandemError("usage", `${JSON.stringify(word)} does not name the question that it answers.`, {
        fix: `Write NAME=ANSWER; the questions are ${questions.map((q) => q.header ?? q.question).join(", ")}.`,
      });
    }
    const before = answers[name];
    answers[name] = before === undefined ? answer : [before, answer].flat();
  }
  return answers;

  function isNamed(word: string): boolean {
    return questions.some(({ question, header }) => word.startsWith(`${question}=`) || word.startsWith(`${header}=`));
  }
}
