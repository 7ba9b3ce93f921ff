import type { Value } from "@tandem/connectors";

/** Letters beyond this are dropped: the exact length of a name says more than its form. */
const LETTERS = 4;
const DIGITS = 12;
const CHARACTERS = 40;
const SHAPES = 5;

/**
 * The form of a value: `A` a capital letter, `a` any other letter, `9` a digit, `*` a rare symbol. Runs of letters are cut, so
 * that values of one form have one shape: `Aaaa.Aaaa@aaaa.aa`.
 */
export function shapeOf(value: Value): string {
  const classes = String(value)
    .normalize("NFC")
    .replaceAll(/\p{Lu}/gu, "A")
    .replaceAll(/[\p{L}\p{M}]/gu, (letter) => (letter === "A" ? letter : "a"))
    .replaceAll(/\p{N}/gu, "9")
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[^Aa9 @.,:;_/+()'"-]/gu, "*")
    .replaceAll(/[Aa]{5,}/g, (word) => word.slice(0, LETTERS))
    .replaceAll(/9{13,}/g, (digits) => `${digits.slice(0, DIGITS)}…`)
    .replaceAll(/\*{2,}/g, "*");
  return classes.length > CHARACTERS ? `${classes.slice(0, CHARACTERS)}…` : classes;
}

/** The most frequent shapes first. */
export function shapesOf(values: readonly Value[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (value === null || typeof value === "boolean") continue;
    const shape = shapeOf(value);
    counts.set(shape, (counts.get(shape) ?? 0) + 1);
  }
  return [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, SHAPES)
    .map(([shape]) => shape);
}
