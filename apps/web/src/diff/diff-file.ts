import type { FilePatch } from "@tandem/protocol";
import type { ChangeData, HunkData } from "react-diff-view";
import { escapeHidden } from "../text/escape-hidden.ts";

/** Converts a patch of the log or of an approval to hunks. */
export const hunksOfPatch = ({ hunks }: FilePatch): HunkData[] =>
  hunks.map(({ old_start, old_lines, new_start, new_lines, lines }) => ({
    content: `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`,
    oldStart: old_start,
    oldLines: old_lines,
    newStart: new_start,
    newLines: new_lines,
    changes: changesOf(lines, old_start, new_start),
  }));

function changesOf(lines: readonly string[], oldStart: number, newStart: number): ChangeData[] {
  let [old, now] = [oldStart, newStart];
  return lines.flatMap((line): ChangeData[] => {
    const content = line.slice(1);
    switch (line[0]) {
      case "+":
        return [{ type: "insert", isInsert: true, lineNumber: now++, content }];
      case "-":
        return [{ type: "delete", isDelete: true, lineNumber: old++, content }];
      // "\ No newline at end of file"
      case "\\":
        return [];
      default:
        return [{ type: "normal", isNormal: true, oldLineNumber: old++, newLineNumber: now++, content }];
    }
  });
}

/** Shows hidden characters as escapes: a user must approve the real change, not its appearance. */
export const escapeHiddenInHunks = (hunks: readonly HunkData[]): HunkData[] =>
  hunks.map((hunk) => ({
    ...hunk,
    content: escapeHidden(hunk.content),
    changes: hunk.changes.map((change) => ({ ...change, content: escapeHidden(change.content) })),
  }));

export const countLines = (hunks: readonly Pick<HunkData, "changes">[]): number =>
  hunks.reduce((sum, { changes }) => sum + changes.length, 0);

/** The hunk of a new file is the whole file. Split it so that it can be rendered in steps. */
export function cutHunks(hunks: readonly HunkData[], mostLines: number): HunkData[] {
  return hunks.flatMap((hunk) => {
    if (hunk.changes.length <= mostLines) return [hunk];
    const pieces: HunkData[] = [];
    let [oldStart, newStart] = [hunk.oldStart, hunk.newStart];
    for (let at = 0; at < hunk.changes.length; at += mostLines) {
      const changes = hunk.changes.slice(at, at + mostLines);
      const oldLines = changes.filter(({ type }) => type !== "insert").length;
      const newLines = changes.filter(({ type }) => type !== "delete").length;
      const content = at === 0 ? hunk.content : `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
      pieces.push({ ...hunk, content, changes, oldStart, oldLines, newStart, newLines });
      oldStart += oldLines;
      newStart += newLines;
    }
    return pieces;
  });
}

/** The first hunks with at most that many lines in total, but at least one hunk. */
export function firstHunks<T extends Pick<HunkData, "changes">>(hunks: readonly T[], mostLines: number): T[] {
  let lines = 0;
  const beyond = hunks.findIndex(({ changes }, index) => (lines += changes.length) > mostLines && index > 0);
  return hunks.slice(0, beyond === -1 ? hunks.length : beyond);
}

export interface DiffLine {
  /** Unique within its file. */
  key: string;
  side: "old" | "new";
  line: number;
  text: string;
}

/** The line of a change in the new file; for a removed line, in the old file. */
export function lineOf(change: ChangeData): Omit<DiffLine, "key"> {
  const text = change.content;
  if (change.type === "normal") return { side: "new", line: change.newLineNumber, text };
  return { side: change.type === "insert" ? "new" : "old", line: change.lineNumber, text };
}
