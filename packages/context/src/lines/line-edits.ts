import type { LineEdit } from "@tandem/workspace";

/**
 * A text as its lines, without their `\n`: what follows the last one is a line too, so that joining gives the same text
 * again. A file that is not there is like an empty one. Windows' line ends stay at the ends of the lines.
 */
export const toLines = (text: string | null): string[] => (text ?? "").split("\n");

export const fromLines = (lines: readonly string[]): string => lines.join("\n");

/** Edits are in order and do not overlap; of several at one place the first comes first. */
export function applyEdits(base: readonly string[], edits: readonly LineEdit[]): string[] {
  const result: string[] = [];
  let at = 0;
  for (const { start, end, lines } of edits) {
    for (; at < start; at += 1) result.push(base[at]!);
    for (const line of lines) result.push(line);
    at = Math.max(at, end);
  }
  for (; at < base.length; at += 1) result.push(base[at]!);
  return result;
}
