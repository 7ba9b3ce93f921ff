import type { LoggedEvent, SessionId } from "@tandem/protocol";
import type { Page, PageQuery } from "./page.ts";
import type { EventLog, EventRange } from "./store.ts";

const EVENTS_AT_ONCE = 500;
const ENTRIES_AT_ONCE = 200;

/** The events of a session's log in a range, in order, read page by page. */
export async function* logEvents(
  log: Pick<EventLog, "read">,
  session: SessionId,
  range: Omit<EventRange, "order" | "limit"> = {},
): AsyncGenerator<LoggedEvent> {
  for (let { after } = range; ;) {
    const page = await log.read(session, { ...range, after, limit: EVENTS_AT_ONCE });
    yield* page;
    if (page.length < EVENTS_AT_ONCE) return;
    after = page.at(-1)!.seq;
  }
}

/** Every entry of a list, page by page. */
export async function* listAll<T>(
  list: (query: PageQuery) => Promise<Page<T>>,
  query: Omit<PageQuery, "limit" | "cursor"> = {},
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page: Page<T> = await list({ ...query, limit: ENTRIES_AT_ONCE, cursor });
    yield* page.data;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}
