import { parseTableFile } from "../catalogue/table-file.ts";
import { tableLines } from "../catalogue/table-lines.ts";
import { fromLines, toLines } from "../lines/line-edits.ts";
import type { Change } from "../proposals/proposal.ts";
import { mentions, type ScrubRule, scrubTable } from "./scrub-table.ts";

const NOTE = "# removed by `tandem context scrub`";
const VALUE_LINE = /^\s*(samples|min|max|equals|when)\s*:/;

/**
 * Replaces the lines of a proposal's change that contain withheld values by a comment. The number of lines stays, because hunks
 * refer to them. Returns the same object if nothing changes.
 */
export function scrubProposalChange(change: Change, rule: ScrubRule): Change {
  if (!change.path.startsWith("catalogue/")) return change;
  const old = hiddenLines(change.before, rule);
  const now = hiddenLines(change.after, rule);
  if (old.lines.size === 0 && now.lines.size === 0) return change;
  const removed = new Set([...old.removed, ...now.removed]);
  const hide = (lines: readonly string[], start: number, hidden: ReadonlySet<number>) =>
    lines.map((line, at) => (hidden.has(start + at) ? masked(line) : line));
  const hideText = (text: string | null, hidden: ReadonlySet<number>) =>
    text === null ? null : fromLines(hide(toLines(text), 1, hidden));
  return {
    ...change,
    before: hideText(change.before, old.lines),
    after: hideText(change.after, now.lines),
    evidence: change.evidence.map((each) =>
      each.type === "database" && mentions(each.finding, removed) ? { ...each, finding: "(removed)" } : each,
    ),
    hunks: change.hunks.map((hunk) => ({
      ...hunk,
      oldLines: hide(hunk.oldLines, hunk.oldStart, old.lines),
      newLines: hide(hunk.newLines, hunk.newStart, now.lines),
    })),
  };
}

const masked = (line: string): string => `${/^\s*/.exec(line)![0]}${NOTE}`;

/** Lines (from 1) with values that may not be stored, or with a model's text that mentions one. */
function hiddenLines(text: string | null, rule: ScrubRule): { lines: Set<number>; removed: ReadonlySet<string> } {
  const lines = new Set<number>();
  if (text === null) return { lines, removed: new Set() };
  const { columns, removed, text: scrubbed } = scrubTable(text, rule);
  if (scrubbed === text) return { lines, removed };
  const all = text.split("\n");
  const isWhole = !parseTableFile(text).success;
  for (const { from, to, column, under, aspect, isAi } of tableLines(text)) {
    const isValue = under === "profile" && (isWhole || (column !== undefined && columns.includes(column)));
    const block = all.slice(from - 1, to);
    const isHidden =
      (isValue && VALUE_LINE.test(block[0]!)) ||
      ((isAi || aspect === "join" || aspect === "description") && mentions(block.join("\n"), removed));
    if (!isHidden) continue;
    for (let line = from; line <= to; line += 1) lines.add(line);
  }
  return { lines, removed };
}
