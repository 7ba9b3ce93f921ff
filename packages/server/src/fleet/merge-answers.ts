/**
 * Merges the answers of several processes: lists are concatenated, numbers added, other fields taken from the first.
 */
export function mergeAnswers(answers: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const answer of answers) {
    for (const [key, value] of Object.entries(answer)) {
      const before = merged[key];
      if (before === undefined) merged[key] = value;
      else if (Array.isArray(before) && Array.isArray(value))
        merged[key] = [...(before as unknown[]), ...(value as unknown[])];
      else if (typeof before === "number" && typeof value === "number") merged[key] = before + value;
    }
  }
  return merged;
}
