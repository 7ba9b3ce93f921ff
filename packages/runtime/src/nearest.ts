/** The candidate that someone who wrote `word` most likely meant; undefined where none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => {
      const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
      return { candidate, distance, share: distance / Math.max(word.length, candidate.length, 1) };
    })
    .sort((a, b) => a.share - b.share);
  const best = ranked[0];
  return best && (best.share <= 0.45 || best.distance <= 2) ? best.candidate : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
