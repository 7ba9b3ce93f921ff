import { createHash } from "node:crypto";

/**
 * Identifies the same change at the same place, independent of surrounding changes and layout: by path, old and new
 * lines, and their parents (YAML keys, Markdown heading).
 */
export function fingerprint(
  path: string,
  text: { before: readonly string[]; after: readonly string[] },
  hunk: { oldStart: number; oldLines: readonly string[]; newStart: number; newLines: readonly string[] },
): string {
  const { oldLines, newLines } = hunk;
  const first = [...newLines, ...oldLines].find((line) => line.trim() !== "") ?? "";
  // Uses the new position: the old parents differ between a new and an existing file.
  const place =
    newLines.length > 0
      ? parentsOf(text.after, hunk.newStart - 1, first)
      : parentsOf(text.before, hunk.oldStart - 1, first);
  const parts = [path, place, ...[oldLines, newLines].map((lines) => words(path, lines))];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** For a join, without confidence and reason, which are measured again daily. */
function words(path: string, lines: readonly string[]): string {
  const said = path.startsWith("catalogue/") ? lines.filter((line) => !/^\s*(confidence|why):/.test(line)) : lines;
  return (said.length > 0 ? said : lines).join(" ").replaceAll(/\s+/g, " ").trim();
}

/** Less indented lines above, and the nearest heading. */
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

/** The dash of a list item counts as indentation, so that its keys are siblings below the item. */
const indentOf = (line: string): number => /^\s*/.exec(line)![0].length;
