import { RequestError } from "@tandem/protocol";

export interface EventList {
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
export const eventCursor = (list: EventList, seq: number): string =>
  Buffer.from([PREFIX, list.session, list.thread ?? "", list.order, seq].join(":")).toString("base64url");

export function readEventCursor(list: EventList, cursor: string): number {
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
