import type { Edit } from "./lines.ts";

/** Texts that differ in more lines than this are taken as different altogether where they differ: the search is quadratic. */
const MAX_DISTANCE = 2_000;

/** The fewest edits that make one list of lines out of the other (Myers). */
export function diffLines(before: readonly string[], after: readonly string[]): Edit[] {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from += 1;
  let beforeEnd = before.length;
  let afterEnd = after.length;
  while (beforeEnd > from && afterEnd > from && before[beforeEnd - 1] === after[afterEnd - 1]) {
    beforeEnd -= 1;
    afterEnd -= 1;
  }
  if (from === beforeEnd && from === afterEnd) return [];
  const kept = keptLines(before.slice(from, beforeEnd), after.slice(from, afterEnd));
  const edits: Edit[] = [];
  let [b, a] = [from, from];
  for (const [keptBefore, keptAfter] of [...kept, [beforeEnd - from, afterEnd - from] as const]) {
    const [toBefore, toAfter] = [from + keptBefore, from + keptAfter];
    if (b < toBefore || a < toAfter) edits.push({ start: b, end: toBefore, lines: after.slice(a, toAfter) });
    [b, a] = [toBefore + 1, toAfter + 1];
  }
  return edits;
}

/** Pairs of indexes of lines that stay. */
function keptLines(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  const [n, m] = [before.length, after.length];
  if (n === 0 || m === 0) return [];
  const most = Math.min(n + m, MAX_DISTANCE);
  const furthest = new Int32Array(2 * most + 3);
  const origin = most + 1;
  const steps: Int32Array[] = [];
  for (let distance = 0; distance <= most; distance += 1) {
    // Only diagonals that the last step can have reached are kept of each.
    steps.push(furthest.slice(origin - distance - 1, origin + distance + 2));
    for (let k = -distance; k <= distance; k += 2) {
      const down = k === -distance || (k !== distance && furthest[origin + k - 1]! < furthest[origin + k + 1]!);
      let x = down ? furthest[origin + k + 1]! : furthest[origin + k - 1]! + 1;
      let y = x - k;
      while (x < n && y < m && before[x] === after[y]) {
        x += 1;
        y += 1;
      }
      furthest[origin + k] = x;
      if (x >= n && y >= m) return trace(steps, n, m);
    }
  }
  return [];
}

/** The way back through what each step had reached. */
function trace(steps: readonly Int32Array[], n: number, m: number): (readonly [number, number])[] {
  const kept: (readonly [number, number])[] = [];
  let [x, y] = [n, m];
  for (let distance = steps.length - 1; distance >= 0; distance -= 1) {
    const reached = steps[distance]!;
    const at = (k: number) => reached[k + distance + 1]!;
    const k = x - y;
    const down = k === -distance || (k !== distance && at(k - 1) < at(k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = distance === 0 ? 0 : at(fromK);
    const start = distance === 0 || down ? fromX : fromX + 1;
    while (x > start) {
      x -= 1;
      y -= 1;
      kept.push([x, y]);
    }
    [x, y] = [fromX, fromX - fromK];
  }
  return kept.toReversed();
}
