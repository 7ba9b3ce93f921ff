/** The value of a setting. Some lists hold objects, and `scan.samples` may be a map. */
export type ConfigValue = string | number | boolean | readonly (string | Readonly<Record<string, unknown>>)[];

/** Formats a value as it is written in the file. */
export const formatValue = (value: ConfigValue): string => shownEntry(value);

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
