import type { QuestionForm } from "./inquiry.ts";
import { OTHER } from "./question-form.ts";

/** A choice as a property of a schema, and a line for words of one's own beside it, as both versions know them. */
export function fieldProperties({ key, title, question, options, multiSelect }: QuestionForm["fields"][number]) {
  const choices = options.map(({ label, description }) => ({
    ...{ const: label, title: label },
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
