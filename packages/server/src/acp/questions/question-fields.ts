import type { QuestionForm } from "./pending-request.ts";

/** The suffix of the field that takes an answer in free text. */
export const OTHER = "_other";

/** The schema of one question: a choice, and a text field beside it for an answer in free text. */
export function fieldProperties({ key, title, question, options, multiSelect }: QuestionForm["fields"][number]) {
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: label,
    ...(description !== undefined && { description }),
  }));
  const described = { title, description: question };
  const own = {
    ...described,
    type: "string" as const,
    title: choices.length === 0 ? title : `${title} (in your own words)`,
  };
  const choice = multiSelect
    ? { ...described, type: "array" as const, items: { type: "string" as const, anyOf: choices } }
    : { ...described, type: "string" as const, oneOf: choices };
  const other = [`${key}${OTHER}`, own] as const;
  return choices.length === 0 ? [other] : [[key, choice] as const, other];
}
