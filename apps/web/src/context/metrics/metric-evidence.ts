import type { Change, Evidence } from "@tandem/protocol";

/** The evidence for the accepted lines of a metric in a change of its file. */
export function evidenceOf({ hunks, evidence }: Pick<Change, "hunks" | "evidence">, metric: string): Evidence[] {
  const marks = new Set(
    hunks
      .filter(({ state }) => state === "accepted")
      .flatMap(({ new_lines: lines, support }) => {
        const { start, end } = linesOf(lines, metric);
        return support.slice(start, end).flat();
      }),
  );
  return [...marks].sort((a, b) => a - b).flatMap((at) => evidence[at] ?? []);
}

/** The lines of the entry with this key: the key's line and the deeper ones below it. */
function linesOf(lines: readonly string[], key: string): { start: number; end: number } {
  const start = lines.findIndex((line) => line.trimStart().startsWith(`${key}:`));
  if (start === -1) return { start: 0, end: 0 };
  const indent = indentOf(lines[start]!);
  const next = lines.findIndex((line, at) => at > start && line.trim() !== "" && indentOf(line) <= indent);
  return { start, end: next === -1 ? lines.length : next };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
