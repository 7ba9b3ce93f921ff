import type { LoggedEvent, SessionEvent } from "@tandem/protocol";
import { api } from "../api/client.ts";

/** Number of latest events in the first request. */
export const FIRST_PAGE = 600;

export interface LogPage {
  data: LoggedEvent[];
  waiting: SessionEvent[];
  before: number | null;
  head: number;
}

export async function readPage(
  session: string,
  query: { limit: number; before?: number | undefined; thread?: string | undefined },
  signal?: AbortSignal,
): Promise<LogPage> {
  const page = await api.call("sessions.log.list", { params: { session_id: session }, query, signal });
  // Only the model needs the signature, which is often longer than the text. Drop it to save memory.
  for (const { event } of page.data) if (event.type === "tandem.thinking") event.signature = null;
  return page;
}

let prefetched: { session: string; page: Promise<LogPage>; known?: LogPage } | undefined;

/** Prefetches the end of the log when the page opens at a session, before the first render. */
export function prefetchLog(path: string): void {
  const session = /^\/sessions\/(\w+)$/.exec(path)?.[1];
  if (session === undefined) return;
  const own: typeof prefetched = { session, page: readPage(session, { limit: FIRST_PAGE }) };
  // The consumer of the promise handles the error; this only avoids an unhandled rejection.
  own.page.then(
    (page) => (own.known = page),
    () => undefined,
  );
  prefetched = own;
}

/** The prefetched page, if it has arrived. */
export const prefetchedPage = (session: string): LogPage | undefined =>
  prefetched?.session === session ? prefetched.known : undefined;

/** Hands out the prefetched page once. Later callers need a fresh one. */
export function takePrefetched(session: string): Promise<LogPage> | undefined {
  const found = prefetched?.session === session ? prefetched.page : undefined;
  prefetched = undefined;
  return found;
}
