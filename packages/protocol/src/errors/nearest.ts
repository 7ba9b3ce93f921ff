/** The most likely intended candidate, if one is close enough to suggest. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = simplify(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(plain, simplify(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Treats `claudeCode`, `claude_code` and `claude-code` as equal. */
const simplify = (word: string) =>
  word
    .slice(0, 64)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");

/** Counts insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let twoAgo: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, twoAgo[j - 2]! + 1);
      row.push(cost);
    }
    [twoAgo, previous] = [previous, row];
  }
  return previous[b.length]!;
}
