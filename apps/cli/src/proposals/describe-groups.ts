import type { HunkGroup } from "@tandem/context";
import { printable, styleFor, table } from "../terminal.ts";

/** Renders groups with open hunks as a table. With `all`, also the decided ones. */
export function describeGroups(
  stdout: NodeJS.WriteStream,
  groups: readonly HunkGroup[],
  { all = false }: { all?: boolean } = {},
): string[] {
  const { dim, warn, bold } = styleFor(stdout);
  const rows = groups
    .filter(({ counts }) => all || counts.open + counts.conflict > 0)
    .map(({ title, area, files, counts, held, confidence, kind, origin }) => {
      const states = (["open", "conflict", "accepted", "rejected"] as const)
        .filter((state) => counts[state] > 0 && (all || state === "open" || state === "conflict"))
        .map((state) => `${counts[state]} ${state}`);
      const notes = [
        ...(confidence ? [`confidence ${rangeOf(confidence)}`] : []),
        ...(held > 0 ? [warn(`${held} held`)] : []),
      ];
      return [
        `  ${bold(title)}`,
        printable(area),
        `${states.join(", ")} in ${files} ${files === 1 ? "file" : "files"}`,
        [dim(`--kind ${kind} --origin ${origin}`), ...notes].join("  "),
      ];
    });
  return table(rows);
}

const rangeOf = ({ min, max }: { min: number; max: number }): string => (min === max ? `${min}` : `${min}–${max}`);
