import { z } from "zod";
import type { TranscriptLine } from "./transcript-line.ts";

const timed = z.object({ timestamp: z.string() });

/** Under which name, and where, a conversation goes on. */
export interface NewPlace {
  id: string;
  folder: string;
}

/**
 * The transcripts of a conversation up to a message, by path, as those of a conversation of another name. `messages` are the
 * `uuid`s of that message and of those after it: it may not have reached the transcript, and then the first that did counts.
 * Of subagents, what they did before that moment stays.
 */
export function cutTranscript(
  transcripts: ReadonlyMap<string, readonly TranscriptLine[]>,
  messages: readonly string[],
  place: NewPlace,
): Map<string, TranscriptLine[]> {
  const main = transcripts.get("") ?? [];
  const wanted = new Set(messages);
  const end = main.findIndex(({ uuid }) => typeof uuid === "string" && wanted.has(uuid));
  const at = end === -1 ? undefined : timed.safeParse(main[end]).data?.timestamp;
  const kept = new Map<string, TranscriptLine[]>();
  for (const [path, lines] of transcripts) {
    const rest =
      path === "" ? lines.slice(0, end === -1 ? undefined : end) : lines.filter((line) => isBefore(line, at));
    // What is only Claude Code's notes to itself says nothing.
    if (rest.some(({ uuid }) => uuid !== undefined))
      kept.set(
        path,
        rest.map((line) => moved(line, place)),
      );
  }
  return kept.has("") ? kept : new Map();
}

function isBefore(line: TranscriptLine, at: string | undefined): boolean {
  const { data } = timed.safeParse(line);
  return at === undefined || !data || data.timestamp < at;
}

const moved = (line: TranscriptLine, { id, folder }: NewPlace): TranscriptLine => ({
  ...line,
  ...("sessionId" in line && { sessionId: id }),
  ...("cwd" in line && { cwd: folder }),
});
