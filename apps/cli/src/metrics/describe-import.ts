import type { ProjectImport } from "@tandem/context";
import { printable, type Style, table } from "../terminal.ts";
import { plural } from "../human-units.ts";

/** Mapped, asked and left out, each with file and line. */
export function describeImport(
  { bold, dim, warn, good }: Style,
  { format, connection, files, metrics, asked, unmapped, notes, skipped, proposal }: ProjectImport,
  { dryRun }: { dryRun: boolean },
): string[] {
  const place = ({ path, line }: { path: string; line: number }): string => dim(printable(`${path}:${line}`));
  const next = (fix: string | undefined): string[] => (fix ? [`    → ${printable(fix)}`] : []);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", bold(title), ...lines];
  return [
    `${plural(metrics.length, "metric")} of the ${format} project fit ${connection}.`,
    ...table(
      files.map(({ path, definitions, isNew }) => [
        `  ${path}`,
        isNew ? "new" : "changed",
        plural(definitions, "definition"),
      ]),
    ),
    ...section(
      `Asked (${asked.length})`,
      asked.flatMap(({ item, question, holds, fix, ...at }) => [
        `  ${place(at)} ${printable(`${item}: ${question}`)}`,
        ...(holds.length > 0 ? [`    waiting: ${printable(holds.join(", "))}`] : []),
        ...next(fix),
      ]),
    ),
    ...section(
      `Left out (${unmapped.length + skipped.length})`,
      [
        ...unmapped.map(({ item, reason, fix, ...at }) => [
          `  ${place(at)} ${printable(`${item}: ${reason}`)}`,
          ...next(fix),
        ]),
        ...skipped.map(({ path, message }) => [`  ${dim(printable(path))} ${printable(message)}`]),
      ].flat(),
    ),
    ...section(
      `Notes (${notes.length})`,
      notes.map(({ item, note, ...at }) => `  ${place(at)} ${warn(printable(item))}: ${printable(note)}`),
    ),
    "",
    proposal === undefined
      ? dryRun
        ? "Nothing was proposed (--dry-run)."
        : "Nothing to propose: the context has these definitions."
      : `${good("Proposed")} as ${proposal}. → tandem context proposals show ${proposal}`,
  ];
}
