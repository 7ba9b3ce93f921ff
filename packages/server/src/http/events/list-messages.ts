import { project, type LoggedEvent, type Message, type SessionEvent, type ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

/** A typical number of events per message; more are read if it was too few. */
const EVENTS_PER_MESSAGE = 5;
const LEAST_EVENTS = 100;
/** Limits a message of the agent that is longer than any page; it is shown from where reading stopped. */
const MAX_EVENTS = 5_000;
/** Later events may belong to the page, such as the result of a tool that was still running. */
const LOOKAHEAD = 200;

/** The messages of a thread, paged from the end: the last ones, or those before a message's `seq`. Oldest first. */
export async function listMessages(
  sessions: Sessions,
  request: { session: string; thread: ThreadId | null; limit: number; before: number | undefined },
): Promise<{ data: Message[]; before: number | null }> {
  const { session, thread, limit, before } = request;
  const lookahead =
    before === undefined
      ? []
      : (await sessions.events(session, { after: before - 1, limit: LOOKAHEAD, thread })).events;
  let size = Math.max(LEAST_EVENTS, limit * EVENTS_PER_MESSAGE);
  let events: LoggedEvent[] = [];
  let waiting: SessionEvent[] = [];
  for (;;) {
    const position = events[0]?.seq ?? before;
    const page = await sessions.events(session, { order: "desc", before: position, limit: size, thread });
    events = page.events.toReversed().concat(events);
    if (position === undefined) waiting = page.waiting;
    const isWhole = page.events.length < size;
    const messages = project([...events, ...lookahead], waiting).filter(
      (message) => message.thread === thread && (before === undefined || (message.seq ?? Infinity) < before),
    );
    // The first message may have started before the events that were read; its id would differ.
    const sure = isWhole || messages.length === 1 ? messages : messages.slice(1);
    if (!isWhole && sure.length < limit && events.length < MAX_EVENTS) {
      // Estimate from the events read so far; at most double the number.
      const perMessage = events.length / Math.max(1, sure.length);
      const expected = Math.ceil((limit - sure.length + 1) * perMessage);
      size = Math.max(LEAST_EVENTS, Math.min(events.length, expected));
      continue;
    }
    const data = sure.slice(-limit);
    const first = data.find(({ seq }) => seq !== null)?.seq ?? null;
    return { data, before: data.length < sure.length || !isWhole ? first : null };
  }
}
