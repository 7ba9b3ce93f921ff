import { ANTHROPIC_EVENT_TYPES, type SessionEvent, type ThreadId, RequestError } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EncodedEvent, EventRange } from "@tandem/storage";
import { EncodedAnswer } from "../encoded-answer.ts";
import { readThread } from "./read-thread.ts";

interface Request extends EventList {
  thread: ThreadId | null;
  limit: number;
  page: string | undefined;
  types: readonly string[] | undefined;
  since?: NonNullable<EventRange["since"]>;
}

/** Limits a page, because the response is built in memory. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Enough for a page of the default size; the first part shows how large the events are. */
const FIRST_PART = 25;
const GROWTH = 4;

/**
 * The types that a list has by default. The tool runner of the official clients gets none of Tandem's: if one follows the end
 * of a turn, it waits for the turn's end forever.
 */
export function shownTypes(
  { tandem }: { tandem?: "true" | "false" | undefined },
  header: (name: string) => string | undefined,
): readonly string[] | undefined {
  const isShown = tandem ?? (header("x-stainless-helper")?.includes("session-tool-runner") ? "false" : "true");
  return isShown === "true" ? undefined : ANTHROPIC_EVENT_TYPES;
}

/** A page of events of a session or one of its threads. Queued events are newer than the whole log. */
export async function listEvents(sessions: Sessions, request: Request): Promise<EncodedAnswer> {
  const { session, thread, order, limit, page, types } = request;
  const since = Object.values(request.since ?? {}).some((time) => time !== undefined) ? request.since : undefined;
  const found: EncodedEvent[] = [];
  const tail: SessionEvent[] = [];
  let position = page === undefined ? undefined : readEventCursor(request, page);
  let isLast = false;
  // One extra event tells whether there is a next page.
  for (let bytes = 0, part = FIRST_PART; found.length <= limit && bytes < MAX_BYTES && !isLast;) {
    const count = Math.min(part, limit + 1 - found.length);
    const bound = order === "asc" ? { after: position } : { before: position };
    const range = { order, ...bound, limit: count, types, thread, since };
    const { events, waiting, end } = await readPart(sessions, session, range);
    found.push(...events);
    // Only the last part has queued events.
    if (since === undefined) tail.push(...waiting);
    position = end;
    isLast = end === undefined;
    for (const { json } of events) bytes += json.length;
    part = Math.min(part * GROWTH, Math.ceil(((MAX_BYTES - bytes) * Math.max(found.length, 1)) / bytes));
  }
  const logged = found.slice(0, limit).map(({ json }) => json);
  const waiting = tail.map((event) => JSON.stringify(event));
  const data = order === "asc" ? [...logged, ...waiting] : [...waiting.toReversed(), ...logged];
  const next = isLast && found.length <= limit ? null : eventCursor(request, found[logged.length - 1]!.seq);
  return new EncodedAnswer(`{"data":[${data.join(",")}],"next_page":${JSON.stringify(next)}}`);
}

/** `end`: the last position of the part; undefined at the end of the log. */
async function readPart(
  sessions: Sessions,
  session: string,
  { thread, ...range }: EventRange & { thread: ThreadId | null; order: "asc" | "desc" },
): Promise<{ events: EncodedEvent[]; waiting: SessionEvent[]; end: number | undefined }> {
  if (thread !== null) return { ...(await readThread(sessions, session, { ...range, thread })), waiting: [] };
  const { events, waiting } = await sessions.encodedEvents(session, { ...range, thread });
  return { events, waiting, end: events.length < range.limit ? undefined : events.at(-1)!.seq };
}

interface EventList {
  session: string;
  /** Null for the session's own list. */
  thread: string | null;
  order: "asc" | "desc";
}

const PREFIX = "ev";

/**
 * The position in a list of events: the next page starts after it or, in descending order, before it. Valid for that
 * list only.
 */
const eventCursor = (list: EventList, seq: number): string =>
  Buffer.from([PREFIX, list.session, list.thread ?? "", list.order, seq].join(":")).toString("base64url");

function readEventCursor(list: EventList, cursor: string): number {
  const [prefix, session, thread, order, seq, ...rest] = Buffer.from(cursor, "base64url").toString().split(":");
  const fits =
    prefix === PREFIX &&
    session === list.session &&
    thread === (list.thread ?? "") &&
    order === list.order &&
    rest.length === 0 &&
    /^\d{1,15}$/.test(seq ?? "");
  if (fits) return Number(seq);
  throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
    fix: "Take `next_page` from an answer of the same list with the same order, or begin again without `page`.",
  });
}
