import {
  EventIds,
  PastFactsReader,
  readPastSession,
  TranscriptReader,
  type PastOutput,
  type PastSession,
} from "@tandem/claude-code";
import type { Clock } from "@tandem/protocol";
import type { TranscriptLine } from "@tandem/storage";
import { PastLog, type PlacedEvent } from "./past-log.ts";
import type { ReadPast } from "./restore-past.ts";

/** Event ids derive from `name` and the lines: the same input gives the same ids. */
export async function readPast(session: PastSession, name: string, clock: Clock): Promise<ReadPast> {
  const primaryThread = new EventIds(name).threadOf("primary");
  const reader = new TranscriptReader(name, primaryThread);
  const facts = new PastFactsReader();
  const log = new PastLog(name, primaryThread, clock);
  const events: PlacedEvent[] = [];
  const transcripts = new Map<string, TranscriptLine[]>();
  let [lines, unreadable] = [0, 0];
  const add = (outputs: PastOutput[]): void => void events.push(...log.accept(outputs));
  for await (const past of readPastSession(session)) {
    const { line, place, subpath, subagent, text, isLast } = past;
    lines += 1;
    if (line) {
      facts.note(past);
      const kept = transcripts.get(subpath);
      if (kept) kept.push(line);
      else transcripts.set(subpath, [line]);
      if (line["type"] !== "agent_metadata") add(reader.accept(line, place, subagent));
    } else if (!isLast) {
      unreadable += 1;
      add(reader.unreadable(text, place));
    }
    if (subagent && isLast) add(reader.left(subagent));
  }
  add(reader.end());
  const { messages } = log;
  return {
    from: "claude-code",
    claudeSession: session.id,
    events,
    log,
    facts: facts.facts,
    transcripts,
    messages,
    primaryThread,
    lines,
    unreadable,
  };
}
