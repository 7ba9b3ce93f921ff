/** Null removes a value, or all of them; an absent value stays. */
export function mergeMetadata(
  current: Record<string, string>,
  update: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (update === undefined) return current;
  if (update === null) return {};
  const merged = Object.entries({ ...current, ...update }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(merged);
}
