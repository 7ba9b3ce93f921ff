import type { LineEdit } from "@tandem/workspace";

/**
 * Splits a text into lines without `
 * `; the part after the last line end counts as a line, so that joining restores the text. A missing file equals an
 * empty one. CR stays part of the line.
 */
export const toLines = (text: string | null): string[] => (text ?? "").split("\n");

export const fromLines = (lines: readonly string[]): string => lines.join("\n");

/** Edits are ordered and do not overlap; edits at one place keep their order. */
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
