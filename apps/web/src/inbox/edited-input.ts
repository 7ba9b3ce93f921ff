export interface InputField {
  key: string;
  /** What is no text is written as JSON. */
  isJson: boolean;
  text: string;
}

export const fieldsOf = (input: Record<string, unknown>): InputField[] =>
  Object.entries(input).map(([key, value]) =>
    typeof value === "string"
      ? { key, isJson: false, text: value }
      : { key, isJson: true, text: JSON.stringify(value, null, 2) },
  );

/** The input that the fields stand for, or the first of them that cannot be read. */
export function editedInput(fields: readonly InputField[]): { input?: Record<string, unknown>; wrong?: string } {
  const input: Record<string, unknown> = {};
  for (const { key, isJson, text } of fields) {
    try {
      input[key] = isJson ? (JSON.parse(text) as unknown) : text;
    } catch {
      return { wrong: key };
    }
  }
  return { input };
}
