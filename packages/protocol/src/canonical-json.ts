// The storage package's SQLite thread imports this file alone: it must stay free of zod, which is slow to load.

/** JSON with keys sorted at every level, so that equal values give equal text. The hashes of the audit depend on it. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value)) ?? "null";

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
