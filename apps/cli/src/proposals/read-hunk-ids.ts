import { TandemError } from "@tandem/protocol";

/** Longer ranges are typing errors. */
const MOST = 10_000;

/** Parses `1 3-5 7,9` to hunk ids. Undefined means all. */
export function readHunkIds(words: readonly string[]): string[] | undefined {
  const ids = words.flatMap((word) => word.split(",").filter(Boolean).flatMap(readRange));
  return ids.length > 0 ? [...new Set(ids)] : undefined;
}

function readRange(text: string): string[] {
  const [, first, last] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last ?? first)];
  if (first === undefined || to < from || to - from > MOST) {
    throw new TandemError("usage", `${JSON.stringify(text)} is not a hunk number.`, {
      fix: "Give numbers as `tandem context proposals show` prints them, such as 1 3-5.",
    });
  }
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}
