/** Keeps the selection. If the item is gone, selects the one after it; otherwise the first. */
export function nextSelected(
  before: readonly string[],
  now: readonly string[],
  selected: string | undefined,
): string | undefined {
  if (selected !== undefined && now.includes(selected)) return selected;
  const at = selected === undefined ? -1 : before.indexOf(selected);
  if (at === -1) return now[0];
  const after = before.slice(at + 1).find((id) => now.includes(id));
  return after ?? now.at(-1);
}
