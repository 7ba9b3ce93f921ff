import { z } from "zod";
import type { TranscriptLine } from "./transcript-line.ts";

const timed = z.object({ timestamp: z.string() });

/** Id and folder of the forked conversation. */
export interface ForkTarget {
  id: string;
  folder: string;
}

/**
 * Forks a conversation's transcripts up to a message, by path. `messages` are the `uuid`s of that message and the later
 * ones: if it never reached the transcript, the first that did is used. Subagent lines are kept up to that time.
 */
export function cutTranscript(
  transcripts: ReadonlyMap<string, readonly TranscriptLine[]>,
  messages: readonly string[],
  place: ForkTarget,
): Map<string, TranscriptLine[]> {
  const main = transcripts.get("") ?? [];
  const wanted = new Set(messages);
  const end = main.findIndex(({ uuid }) => typeof uuid === "string" && wanted.has(uuid));
  const at = end === -1 ? undefined : timed.safeParse(main[end]).data?.timestamp;
  const kept = new Map<string, TranscriptLine[]>();
  for (const [path, lines] of transcripts) {
    const rest =
      path === "" ? lines.slice(0, end === -1 ? undefined : end) : lines.filter((line) => isBefore(line, at));
    // A transcript with only internal notes of Claude Code is worthless.
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

const moved = (line: TranscriptLine, { id, folder }: ForkTarget): TranscriptLine => ({
  ...line,
  ...("sessionId" in line && { sessionId: id }),
  ...("cwd" in line && { cwd: folder }),
});
