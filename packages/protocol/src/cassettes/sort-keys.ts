/** These keys come first, in this order; the others follow by name. */
const FIRST_KEYS =
  "tandem_cassette step kind seq thread event folder type id tool server custom name input permission".split(" ");

const rank = (key: string): number => (FIRST_KEYS.includes(key) ? FIRST_KEYS.indexOf(key) : FIRST_KEYS.length);

/** A JSON value with the keys of its objects in a fixed order, so that files and diffs differ only where values do. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}
