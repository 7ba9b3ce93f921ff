/**
 * Data of a database as part of a prompt: JSON, in which no `<` is left, so that nothing in it can end the element that it
 * stands in. What a value says is never an instruction.
 */
export const asData = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

export const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
