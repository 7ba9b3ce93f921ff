import { cutTranscript } from "@tandem/claude-code";
import type { EventId } from "@tandem/protocol";
import type { TranscriptLine } from "@tandem/storage";
import { messageUuid } from "../turn/lost-messages.ts";

/**
 * Transcripts to go on from, under another name and in another folder, so that nothing is ever written to those that they were
 * read from. Messages get the names that ours have: by them a fork or a rewind finds its place.
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
