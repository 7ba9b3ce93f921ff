/** What a setting may hold; the entries of some lists have fields of their own. */
export type ConfigValue = string | number | boolean | readonly (string | Readonly<Record<string, unknown>>)[];

const isList = (value: ConfigValue): value is Extract<ConfigValue, readonly unknown[]> => Array.isArray(value);

/** As one would write it in the file. */
export const shownValue = (value: ConfigValue): string =>
  isList(value) ? `[${value.map((entry) => shownEntry(entry)).join(", ")}]` : String(value);

function shownEntry(entry: unknown): string {
  if (Array.isArray(entry)) return `[${entry.map(shownEntry).join(", ")}]`;
  if (typeof entry !== "object" || entry === null) return String(entry);
  return `{${Object.entries(entry)
    .map(([key, value]) => `${key}: ${shownEntry(value)}`)
    .join(", ")}}`;
}

/** Equal for equal values and for no others: `["a,b"]` is not `["a", "b"]`. */
export const identityOf = (value: ConfigValue): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);
