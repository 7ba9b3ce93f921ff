import type { LineEdit } from "@tandem/workspace";
import { applyEdits, fromLines, toLines } from "../lines/line-edits.ts";
import { mergeEdits } from "../lines/merge-edits.ts";
import type { Change, Hunk } from "./proposal.ts";

export interface Applied {
  /** The resulting file; null if it is removed or absent. */
  text: string | null;
  outcomes: Map<string, "applied" | "already" | "conflict">;
}

/** Applies hunks of a change to the current file. Hunks accepted earlier count as part of its history. */
export function applyHunks(
  change: Pick<Change, "before" | "after" | "hunks">,
  chosen: ReadonlySet<string>,
  current: string | null,
): Applied {
  const before = toLines(change.before);
  const accepted = change.hunks.filter(({ state }) => state === "accepted");
  const base = applyEdits(before, accepted.map(toEdit));
  let shift = 0;
  const edits: LineEdit[] = [];
  const ids: string[] = [];
  for (const hunk of change.hunks) {
    const { start, end, lines } = toEdit(hunk);
    if (chosen.has(hunk.id) && hunk.state !== "accepted") {
      edits.push({ start: start + shift, end: end + shift, lines });
      ids.push(hunk.id);
    }
    if (hunk.state === "accepted") shift += lines.length - (end - start);
  }
  const { lines, outcomes } = mergeEdits(base, toLines(current), edits);
  const text = fromLines(lines);
  const isGone = text === "" && (change.after === null || current === null);
  return { text: isGone ? null : text, outcomes: new Map(ids.map((id, index) => [id, outcomes[index]!])) };
}

/** The file with these hunks, without later changes of others. */
export function withHunks(before: string | null, hunks: readonly Hunk[], isRemoval: boolean): string | null {
  const text = fromLines(applyEdits(toLines(before), hunks.map(toEdit)));
  return text === "" && (isRemoval || before === null) ? null : text;
}

const toEdit = ({ oldStart, oldLines, newLines }: Hunk): LineEdit => ({
  start: oldStart - 1,
  end: oldStart - 1 + oldLines.length,
  lines: newLines,
});
