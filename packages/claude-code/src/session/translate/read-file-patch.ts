import type { FilePatch } from "@tandem/protocol";
import { z } from "zod";

const changedFile = z.object({
  filePath: z.string(),
  type: z.enum(["create", "update"]).optional(),
  structuredPatch: z.array(
    z.object({
      oldStart: z.number(),
      oldLines: z.number(),
      newStart: z.number(),
      newLines: z.number(),
      lines: z.array(z.string()),
    }),
  ),
});

/** The change that a tool made to a file, if any. */
export function filePatch(output: unknown): FilePatch | undefined {
  const changed = changedFile.safeParse(output).data;
  if (!changed) return undefined;
  return {
    path: changed.filePath,
    kind: changed.type ?? "update",
    hunks: changed.structuredPatch.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      old_start: oldStart,
      old_lines: oldLines,
      new_start: newStart,
      new_lines: newLines,
      lines,
    })),
  };
}
