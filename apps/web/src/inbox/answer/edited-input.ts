export interface InputField {
  key: string;
  /** Values that are not strings are edited as JSON. */
  isJson: boolean;
  text: string;
}

export const fieldsOf = (input: Record<string, unknown>): InputField[] =>
  Object.entries(input).map(([key, value]) =>
    typeof value === "string"
      ? { key, isJson: false, text: value }
      : { key, isJson: true, text: JSON.stringify(value, null, 2) },
  );

/** The input built from the fields, or the first field that is not valid JSON. */
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
