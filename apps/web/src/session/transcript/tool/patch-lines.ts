import type { FilePatch, PartOf } from "@tandem/protocol";

export interface PatchLine {
  sign: "+" | "-" | " " | "…";
  /** The line number in the new file; for removed lines, in the old file. */
  number: number | null;
  text: string;
}

/** The changed lines of a call, from its result, or from its input before it has run. */
export function patchLines(part: PartOf<"tool">): PatchLine[] {
  const patch = "patch" in part.state ? part.state.patch : undefined;
  if (patch && patch.hunks.length > 0) return fromHunks(patch.hunks);
  const { input } = part;
  if (typeof input?.["content"] === "string") return numbered(input["content"], "+");
  const edits = Array.isArray(input?.["edits"]) ? (input["edits"] as Record<string, unknown>[]) : input ? [input] : [];
  return edits.flatMap(({ old_string: before, new_string: after }, index) => [
    ...(index > 0 ? [GAP] : []),
    ...(typeof before === "string" && before !== "" ? unnumbered(before, "-") : []),
    ...(typeof after === "string" && after !== "" ? unnumbered(after, "+") : []),
  ]);
}

const GAP: PatchLine = { sign: "…", number: null, text: "" };

export function fromHunks(hunks: FilePatch["hunks"]): PatchLine[] {
  return hunks.flatMap((hunk, index) => {
    let before = hunk.old_start;
    let after = hunk.new_start;
    const lines = hunk.lines.flatMap((line): PatchLine[] => {
      const text = line.slice(1);
      // "\ No newline at end of file"
      if (line.startsWith("\\")) return [];
      if (line.startsWith("-")) return [{ sign: "-", number: before++, text }];
      if (line.startsWith("+")) return [{ sign: "+", number: after++, text }];
      before += 1;
      return [{ sign: " ", number: after++, text }];
    });
    return index === 0 ? lines : [GAP, ...lines];
  });
}

const numbered = (text: string, sign: "+"): PatchLine[] =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, index) => ({ sign, number: index + 1, text: line }));

const unnumbered = (text: string, sign: "+" | "-"): PatchLine[] =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, number: null, text: line }));

export const countLines = (lines: readonly PatchLine[], sign: "+" | "-"): number =>
  lines.filter((line) => line.sign === sign).length;
