import type { TranscriptLine } from "./transcript-line.ts";

/**
 * Links each line whose parent is missing to the line before it. Claude Code reports only lines that it could write, so a full
 * disk may leave a gap. A line of ours after such a gap would begin a conversation without the user's message.
 */
export function relinkLines(lines: readonly TranscriptLine[]): TranscriptLine[] {
  const known = new Set(lines.map(({ uuid }) => uuid));
  /** The last line of the main branch, and of a subagent's. */
  const last = new Map<boolean, unknown>();
  return lines.map((line) => {
    const { uuid, parentUuid, isSidechain } = line;
    if (uuid === undefined) return line;
    const before = last.get(isSidechain === true) ?? null;
    last.set(isSidechain === true, uuid);
    return typeof parentUuid !== "string" || known.has(parentUuid) ? line : { ...line, parentUuid: before };
  });
}
