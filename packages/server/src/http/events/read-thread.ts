import type { SessionEventType, ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EncodedEvent, EventRange } from "@tandem/storage";
import { z } from "zod";

const SAID: readonly string[] = [
  "session.thread_created",
  "session.thread_status_running",
  "session.thread_status_idle",
  "session.thread_status_rescheduled",
  "session.thread_status_terminated",
] satisfies SessionEventType[];
const ofThread = z.object({ session_thread_id: z.string().optional() });

/** Whether an event is a thread's own, or the session's about the thread. */
export function isAbout({ thread, type, json }: EncodedEvent, wanted: ThreadId): boolean {
  if (thread === wanted) return true;
  return SAID.includes(type) && ofThread.parse(JSON.parse(json)).session_thread_id === wanted;
}

/** A part of a thread's events. `end`: the last position of the part; undefined at the end of the log. */
export async function readThread(
  sessions: Sessions,
  id: string,
  range: EventRange & { thread: ThreadId; order: "asc" | "desc" },
): Promise<{ events: EncodedEvent[]; end: number | undefined }> {
  const { thread, order, limit } = range;
  const own = await sessions.encodedEvents(id, range);
  const { thread: _, ...all } = range;
  const said = await sessions.encodedEvents(id, { ...all, types: SAID });
  const forwards = order === "asc" ? 1 : -1;
  // Each of the two lists is known only up to its last event; the rest is read with the next part.
  const ends = [own.events, said.events].flatMap((part) => (part.length < limit ? [] : part.at(-1)!.seq * forwards));
  const end = Math.min(...ends);
  const others = said.events.filter((event) => event.thread !== thread && isAbout(event, thread));
  const events = [...own.events, ...others]
    .filter(({ seq }) => seq * forwards <= end)
    .toSorted((a, b) => (a.seq - b.seq) * forwards);
  return { events, end: end === Infinity ? undefined : end * forwards };
}
