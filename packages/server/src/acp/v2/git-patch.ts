import type { Piece } from "../patch.ts";

type DiffPiece = Extract<Piece, { type: "diff" }>;

/** A piece of a file as `git diff` writes it, with absolute paths; undefined where it is not known where the piece stands. */
export function gitPatch({ path, oldText, newText, hunk }: DiffPiece): string | undefined {
  const place = hunk ?? (oldText === null ? { oldStart: 0, newStart: 1, lines: added(newText) } : undefined);
  if (!place) return undefined;
  const count = (sign: string): number => place.lines.filter((line) => line[0] === " " || line[0] === sign).length;
  const name = quoted(path);
  const oldCount = count("-");
  // Where there is nothing, git counts from line 0.
  const from = oldCount === 0 && oldText === null ? 0 : place.oldStart;
  return [
    `diff --git ${name} ${name}`,
    ...(oldText === null ? ["new file mode 100644"] : []),
    `--- ${oldText === null ? "/dev/null" : name}`,
    `+++ ${name}`,
    `@@ -${from},${oldCount} +${place.newStart},${count("+")} @@`,
    ...place.lines,
    "",
  ].join("\n");
}

const added = (text: string): string[] =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `+${line}`);

/** As git does where a name has signs that could be taken for something else. */
function quoted(path: string): string {
  if (!/["\\\p{Cc}]|[^\p{ASCII}]/u.test(path)) return path;
  const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, "0")}`;
  const bytes = [...Buffer.from(path)].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte < 0x20 || byte > 0x7e ? octal(byte) : String.fromCharCode(byte);
  });
  return `"${bytes.join("")}"`;
}
