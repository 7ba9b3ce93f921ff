import type { Hunk } from "./proposal-api.ts";

export interface LineRow {
  type: "removed" | "added" | "kept";
  number: number;
  text: string;
  /** Evidence numbers to show; empty if the line before has the same. */
  marks: number[];
  /** All evidence numbers. */
  evidence: number[];
}

/** The lines of a hunk with their evidence. Consecutive lines with the same evidence show it once. */
export function lineRows(
  hunk: Pick<Hunk, "old_start" | "old_lines" | "new_start" | "new_lines" | "support" | "removal">,
): LineRow[] {
  const removed = hunk.old_lines.map((text, at) => ({
    type: "removed" as const,
    number: hunk.old_start + at,
    text,
    evidence: hunk.removal,
    marks: at === 0 ? hunk.removal : [],
  }));
  let before = "";
  const added = hunk.new_lines.map((text, at) => {
    const evidence = hunk.support[at] ?? [];
    const isSame = evidence.join() === before;
    before = evidence.join();
    return { type: "added" as const, number: hunk.new_start + at, text, evidence, marks: isSame ? [] : evidence };
  });
  return [...removed, ...added];
}

/** Up to `lines` unchanged lines of the old file before and after a hunk. */
export function surroundingLines(hunk: Pick<Hunk, "old_start" | "old_lines">, before: string | null, lines: number) {
  const all = before === null ? [] : before.replace(/\n$/, "").split("\n");
  const from = hunk.old_start - 1;
  const to = from + hunk.old_lines.length;
  const kept = (text: string, at: number): LineRow => ({ type: "kept", number: at + 1, text, marks: [], evidence: [] });
  const first = Math.max(0, from - lines);
  return {
    above: all.slice(first, from).map((text, at) => kept(text, first + at)),
    below: all.slice(to, to + lines).map((text, at) => kept(text, to + at)),
  };
}
