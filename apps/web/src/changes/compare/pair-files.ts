import type { FileChange } from "../changes-api.ts";

interface FilePair {
  path: string;
  a: FileChange | undefined;
  b: FileChange | undefined;
  isSame: boolean;
}

/** Pairs the files of two sessions by path. Pairs that differ come first. */
export function pairFiles(left: readonly FileChange[], right: readonly FileChange[]): FilePair[] {
  const paths = new Set([...left, ...right].map(({ path }) => path));
  const pairs = [...paths].map((path) => {
    const a = left.find((file) => file.path === path);
    const b = right.find((file) => file.path === path);
    const isSame = a?.patch !== undefined && a.patch === b?.patch;
    return { path, a, b, isSame };
  });
  return pairs.sort((a, b) => Number(a.isSame) - Number(b.isSame) || a.path.localeCompare(b.path));
}
