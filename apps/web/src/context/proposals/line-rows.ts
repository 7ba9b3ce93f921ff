import type { Hunk } from "./proposal-api.ts";

export interface LineRow {
  type: "removed" | "added" | "kept";
  number: number;
  text: string;
  /** What it rests on; empty where the line before rests on the same. */
  marks: number[];
  /** All of what it rests on. */
  evidence: number[];
}

/** The lines of a hunk, with what each rests on. Said once where several lines in a row rest on the same. */
export function lineRows(
  hunk: Pick<Hunk, "old_start" | "old_lines" | "new_start" | "new_lines" | "support" | "removal">,
): LineRow[] {
  const removed = hunk.old_lines.map((text, at) => ({
    ...{ type: "removed" as const, number: hunk.old_start + at, text, evidence: hunk.removal },
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

/** Up to so many lines of the file before and after a hunk, as it was. */
export function around(hunk: Pick<Hunk, "old_start" | "old_lines">, before: string | null, lines: number) {
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
