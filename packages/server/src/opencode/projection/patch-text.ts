import type { FilePatch } from "@tandem/protocol";

/** A change of a file in the format of `diff -u`, which opencode's clients parse. */
export function patchText({ path, kind, hunks }: FilePatch): string {
  const header = [`--- ${kind === "create" ? "/dev/null" : path}`, `+++ ${path}`];
  const body = hunks.flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => [
    `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`,
    ...lines,
  ]);
  return `${[...header, ...body].join("\n")}\n`;
}

export function countLines({ hunks }: FilePatch): { additions: number; deletions: number } {
  const count = (sign: string): number =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
  return { additions: count("+"), deletions: count("-") };
}
