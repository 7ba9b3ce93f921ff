import type { SessionDiff } from "@tandem/protocol";
import { printable, type Style } from "../terminal.ts";

type Files = Pick<SessionDiff, "files" | "added" | "removed" | "truncated">;

const BAR = 30;
const LETTERS = { added: "A", modified: "M", deleted: "D", renamed: "R", type_changed: "T" } as const;

/** One line per file and a total. */
export function statLines({ files, added, removed, truncated }: Files, style: Style, width: number): string[] {
  const { dim, good, bad, accent } = style;
  if (files.length === 0) return [dim("No file changes.")];
  const names = files.map(({ path, old_path: old }) => printable(old === undefined ? path : `${old} → ${path}`));
  const longest = Math.min(Math.max(...names.map(({ length }) => length)), Math.max(20, width - BAR - 16));
  const most = Math.max(1, ...files.map((file) => (file.added ?? 0) + (file.removed ?? 0)));
  const scale = Math.min(1, BAR / most);
  const rows = files.map((file, index) => {
    const name = names[index]!;
    const shown = name.length > longest ? `…${name.slice(1 - longest)}` : name.padEnd(longest);
    const bar = (count: number | null, sign: string) => sign.repeat(count ? Math.max(1, Math.floor(count * scale)) : 0);
    const lines = file.binary ? dim("binary") : `${good(bar(file.added, "+"))}${bad(bar(file.removed, "-"))}`;
    const count = file.binary ? "" : String((file.added ?? 0) + (file.removed ?? 0));
    return ` ${accent(LETTERS[file.status])} ${shown}  ${dim(count.padStart(5))}  ${lines}`.trimEnd();
  });
  const total = `${files.length} ${files.length === 1 ? "file" : "files"}, ${good(`+${added}`)} ${bad(`-${removed}`)}`;
  return [...rows, ` ${total}${truncated ? dim("; some are omitted") : ""}`];
}

/** Colours a patch like git. Removes control characters. */
export function paintPatch({ patch = "" }: SessionDiff["files"][number], { bold, accent, good, bad }: Style): string {
  let isBody = false;
  return patch
    .split("\n")
    .map((line) => {
      if (line.startsWith("diff --git ")) isBody = false;
      if (line.startsWith("@@")) isBody = true;
      const clean = printable(line);
      if (!isBody) return line === "" ? "" : bold(clean);
      if (line.startsWith("@@")) return accent(clean);
      if (line.startsWith("+")) return good(clean);
      return line.startsWith("-") ? bad(clean) : clean;
    })
    .join("\n");
}
