import { diffLines, type LineEdit } from "@tandem/workspace";
import { applyEdits } from "./line-edits.ts";

export interface Merged {
  lines: string[];
  /** Outcome per edit. `already`: the content is there. `conflict`: the same lines were changed by others. */
  outcomes: ("applied" | "already" | "conflict")[];
}

/**
 * Applies edits of `base` to its current version (three-way). Never removes or changes a line written by others: such
 * an edit is skipped as a conflict.
 */
export function mergeEdits(base: readonly string[], current: readonly string[], edits: readonly LineEdit[]): Merged {
  if (sameLines(base, current)) return { lines: applyEdits(base, edits), outcomes: edits.map(() => "applied") };
  if (sameLines(applyEdits(base, edits), current)) return { lines: [...current], outcomes: edits.map(() => "already") };
  const theirs = diffLines(base, current);
  const slid = theirs.map((edit) => slideUp(base, edit));
  const outcomes = edits.map((edit): Merged["outcomes"][number] => {
    const own = slideUp(base, edit);
    if (slid.some((other) => sameEdit(other, own)) || isWithin(base, theirs, edit)) return "already";
    return theirs.some((other) => overlaps(other, edit)) ? "conflict" : "applied";
  });
  const ours = edits.filter((_, index) => outcomes[index] === "applied");
  const all = [...theirs, ...ours].sort(
    (a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start),
  );
  return { lines: applyEdits(base, all), outcomes };
}

/**
 * Two insertions at one place overlap, because their order is ambiguous. An insertion at the edge of a change does not.
 */
function overlaps(a: LineEdit, b: LineEdit): boolean {
  if (a.start === a.end && b.start === b.end) return a.start === b.start;
  return a.start < b.end && b.start < a.end;
}

/** Whether a larger change of another author includes this edit. */
function isWithin(base: readonly string[], theirs: readonly LineEdit[], edit: LineEdit): boolean {
  return theirs.some((other) => {
    if (edit.start < other.start || edit.end > other.end || edit.start === edit.end) return false;
    const wanted = [...base.slice(other.start, edit.start), ...edit.lines, ...base.slice(edit.end, other.end)];
    return sameLines(wanted, other.lines);
  });
}

/** Insertions and deletions among equal lines are ambiguous; normalise to the first place. */
function slideUp(base: readonly string[], { start, end, lines }: LineEdit): LineEdit {
  if (start !== end && lines.length > 0) return { start, end, lines };
  const moving = start === end ? [...lines] : base.slice(start, end);
  while (start > 0 && moving.length > 0 && base[start - 1] === moving.at(-1)) {
    moving.unshift(moving.pop()!);
    start -= 1;
    end -= 1;
  }
  return { start, end, lines: start === end ? moving : lines };
}

const sameEdit = (a: LineEdit, b: LineEdit): boolean =>
  a.start === b.start && a.end === b.end && sameLines(a.lines, b.lines);

const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);
