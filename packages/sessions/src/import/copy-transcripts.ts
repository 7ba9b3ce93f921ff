import { cutTranscript } from "@tandem/claude-code";
import type { EventId } from "@tandem/protocol";
import type { TranscriptLine } from "@tandem/storage";
import { messageUuid } from "../turn/lost-messages.ts";

/**
 * Copies transcripts under another id and folder, so that the originals are never written. Messages get our ids, which forks
 * and rewinds need.
 */
export function copyTranscripts(
  transcripts: ReadonlyMap<string, readonly TranscriptLine[]>,
  messages: ReadonlyMap<string, EventId>,
  place: { id: string; folder: string },
): { subpath: string; lines: TranscriptLine[] }[] {
  const names = new Map([...messages].map(([uuid, id]) => [uuid, messageUuid(id)]));
  const renamed = (line: TranscriptLine): TranscriptLine =>
    Object.fromEntries(
      Object.entries(line).map(([key, value]) => [key, (typeof value === "string" && names.get(value)) || value]),
    );
  const copies = new Map([...transcripts].map(([subpath, lines]) => [subpath, lines.map(renamed)]));
  return [...cutTranscript(copies, [], place)].map(([subpath, lines]) => ({ subpath, lines }));
}
