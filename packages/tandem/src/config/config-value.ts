/** The value of a setting. Some lists hold objects. */
export type ConfigValue = string | number | boolean | readonly (string | Readonly<Record<string, unknown>>)[];

const isList = (value: ConfigValue): value is Extract<ConfigValue, readonly unknown[]> => Array.isArray(value);

/** Formats a value as it is written in the file. */
export const formatValue = (value: ConfigValue): string =>
  isList(value) ? `[${value.map((entry) => shownEntry(entry)).join(", ")}]` : String(value);

function shownEntry(entry: unknown): string {
  if (Array.isArray(entry)) return `[${entry.map(shownEntry).join(", ")}]`;
  if (typeof entry !== "object" || entry === null) return String(entry);
  return `{${Object.entries(entry)
    .map(([key, value]) => `${key}: ${shownEntry(value)}`)
    .join(", ")}}`;
}

/** A key for comparing values. `["a,b"]` and `["a", "b"]` differ. */
export const identityOf = (value: ConfigValue): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);
