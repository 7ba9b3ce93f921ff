import type { SessionEvent, ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EventRange } from "@tandem/storage";
import { eventCursor, readEventCursor, type EventList } from "./event-cursor.ts";

interface Request extends EventList {
  thread: ThreadId | null;
  limit: number;
  page: string | undefined;
  types?: readonly string[];
  since?: NonNullable<EventRange["since"]>;
}

/** A page of a session's events, or of one of its threads'. What waits in the inbox is newer than all of the log. */
export async function listEvents(
  sessions: Sessions,
  request: Request,
): Promise<{ data: SessionEvent[]; next_page: string | null }> {
  const { session, thread, order, limit, page, types } = request;
  const position = page === undefined ? undefined : readEventCursor(request, page);
  const since = Object.values(request.since ?? {}).some((time) => time !== undefined) ? request.since : undefined;
  const { events, waiting } = await sessions.events(session, {
    order,
    ...(order === "asc" ? { after: position } : { before: position }),
    // One more than is asked for says whether there is a next page.
    limit: limit + 1,
    types,
    thread,
    since,
  });
  const shown = events.slice(0, limit);
  const isLast = events.length <= limit;
  const hasEnd = thread === null && since === undefined && (order === "asc" ? isLast : position === undefined);
  const tail = hasEnd ? waiting.filter(({ type }) => !types?.length || types.includes(type)) : [];
  const logged = shown.map(({ event }) => event);
  return {
    data: order === "asc" ? [...logged, ...tail] : [...tail.toReversed(), ...logged],
    next_page: isLast ? null : eventCursor(request, shown.at(-1)!.seq),
  };
}
