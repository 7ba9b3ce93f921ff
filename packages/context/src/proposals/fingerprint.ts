import { createHash } from "node:crypto";

/**
 * The same change at the same place, whatever else has changed around it and however it is laid out: by the path, the old
 * and the new lines, and what they stand under (keys of YAML, a heading of Markdown).
 */
export function fingerprint(
  path: string,
  text: { before: readonly string[]; after: readonly string[] },
  hunk: { oldStart: number; oldLines: readonly string[]; newStart: number; newLines: readonly string[] },
): string {
  const { oldLines, newLines } = hunk;
  const first = [...newLines, ...oldLines].find((line) => line.trim() !== "") ?? "";
  // Where it is to stand: of a file that is new by now and there the next time, what it stood under before is not the same.
  const place =
    newLines.length > 0
      ? parentsOf(text.after, hunk.newStart - 1, first)
      : parentsOf(text.before, hunk.oldStart - 1, first);
  const parts = [path, place, ...[oldLines, newLines].map((lines) => words(path, lines))];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** Of a join, without how sure it is and why: that is measured anew every day, and the join is the same. */
function words(path: string, lines: readonly string[]): string {
  const said = path.startsWith("catalogue/") ? lines.filter((line) => !/^\s*(confidence|why):/.test(line)) : lines;
  return (said.length > 0 ? said : lines).join(" ").replaceAll(/\s+/g, " ").trim();
}

/** Lines above that are less indented, and the nearest heading. */
function parentsOf(lines: readonly string[], at: number, first: string): string[] {
  const parents: string[] = [];
  let indent = indentOf(first);
  let isHeaded = false;
  for (let index = Math.min(at, lines.length) - 1; index >= 0; index -= 1) {
    const line = lines[index]!;
    if (line.trim() === "") continue;
    if (!isHeaded && /^#{1,6} /.test(line)) {
      parents.push(line.trim());
      isHeaded = true;
    } else if (indentOf(line) < indent) {
      indent = indentOf(line);
      parents.push(line.trim());
    }
  }
  return parents;
}

/** An item's dash is part of its indent, so that its other keys are beside its first and below the item. */
const indentOf = (line: string): number => /^\s*/.exec(line)![0].length;
