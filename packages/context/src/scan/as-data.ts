/**
 * Database content in a prompt, as JSON without `<`, so that it cannot close its element. Values are never
 * instructions.
 */
export const asData = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

export const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
