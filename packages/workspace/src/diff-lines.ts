import type { FilePatch } from "@tandem/protocol";

// The only diff of texts in memory; files, folders and trees are compared by git. Starting git for a text costs hundreds of
// times more (tens of milliseconds against some ten microseconds), and one scan compares thousands of small texts. Stored
// fingerprints of declined proposals depend on the edits that this algorithm chooses among equally short ones.

/** Replaces the lines from `start` up to, not including, `end` (counted from 0) by `lines`. */
export interface LineEdit {
  start: number;
  end: number;
  lines: readonly string[];
}

/** Beyond this distance the differing range is one edit: the search is quadratic. */
const MAX_DISTANCE = 2_000;

/** The shortest list of edits from one list of lines to the other (Myers). */
export function diffLines(before: readonly string[], after: readonly string[]): LineEdit[] {
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
  const edits: LineEdit[] = [];
  let [b, a] = [from, from];
  for (const [keptBefore, keptAfter] of [...kept, [beforeEnd - from, afterEnd - from] as const]) {
    const [toBefore, toAfter] = [from + keptBefore, from + keptAfter];
    if (b < toBefore || a < toAfter) edits.push({ start: b, end: toBefore, lines: after.slice(a, toAfter) });
    [b, a] = [toBefore + 1, toAfter + 1];
  }
  return edits;
}

/** Pairs of indexes of unchanged lines. */
function keptLines(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  const [n, m] = [before.length, after.length];
  if (n === 0 || m === 0) return [];
  const most = Math.min(n + m, MAX_DISTANCE);
  const furthest = new Int32Array(2 * most + 3);
  const origin = most + 1;
  const steps: Int32Array[] = [];
  for (let distance = 0; distance <= most; distance += 1) {
    // Keep only the diagonals that the last step can have reached.
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

/** Walks back through the furthest points of each step. */
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

/** The changed lines with `context` lines around them, as a unified diff has them. Edits whose context meets share a hunk. */
export function diffHunks(before: readonly string[], after: readonly string[], context: number): FilePatch["hunks"] {
  const groups: LineEdit[][] = [];
  for (const edit of diffLines(before, after)) {
    const last = groups.at(-1)?.at(-1);
    if (last && edit.start - last.end <= 2 * context) groups.at(-1)!.push(edit);
    else groups.push([edit]);
  }
  let shift = 0;
  return groups.map((edits) => {
    const from = Math.max(0, edits[0]!.start - context);
    const to = Math.min(before.length, edits.at(-1)!.end + context);
    const lines: string[] = [];
    let at = from;
    for (const edit of edits) {
      lines.push(...before.slice(at, edit.start).map((line) => ` ${line}`));
      lines.push(...before.slice(edit.start, edit.end).map((line) => `-${line}`));
      lines.push(...edit.lines.map((line) => `+${line}`));
      at = edit.end;
    }
    lines.push(...before.slice(at, to).map((line) => ` ${line}`));
    const growth = edits.reduce((sum, { start, end, lines: added }) => sum + added.length - (end - start), 0);
    const [oldLines, newLines] = [to - from, to - from + growth];
    const hunk = {
      // Like git: a side without lines counts from 0.
      old_start: oldLines === 0 ? from : from + 1,
      old_lines: oldLines,
      new_start: newLines === 0 ? from + shift : from + shift + 1,
      new_lines: newLines,
      lines,
    };
    shift += growth;
    return hunk;
  });
}
