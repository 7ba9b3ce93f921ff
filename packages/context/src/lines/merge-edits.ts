import { diffLines, type LineEdit } from "@tandem/workspace";
import { applyEdits } from "./line-edits.ts";

export interface Merged {
  lines: string[];
  /** What became of each edit. `already`: it stands there as it is. `conflict`: others have changed the same lines. */
  outcomes: ("applied" | "already" | "conflict")[];
}

/**
 * Puts edits of `base` into what has become of it since. No line that others have written is ever removed or changed: an
 * edit that would is left out, and is a conflict.
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

/** Two insertions at one place overlap, because nothing says which goes first. One at the edge of a change does not. */
function overlaps(a: LineEdit, b: LineEdit): boolean {
  if (a.start === a.end && b.start === b.end) return a.start === b.start;
  return a.start < b.end && b.start < a.end;
}

/** Whether somebody's larger change has this one in it: then the lines that both touch read as this one wants them. */
function isWithin(base: readonly string[], theirs: readonly LineEdit[], edit: LineEdit): boolean {
  return theirs.some((other) => {
    if (edit.start < other.start || edit.end > other.end || edit.start === edit.end) return false;
    const wanted = [...base.slice(other.start, edit.start), ...edit.lines, ...base.slice(edit.end, other.end)];
    return sameLines(wanted, other.lines);
  });
}

/** Lines that come or go between lines like them can be said to do so at several places: the first of these. */
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
