import type { LoggedEvent, SessionEvent } from "@tandem/protocol";
import { api } from "../api/client.ts";

/** How many events of a session's end are read at first. */
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
  // The signature of a thought is for the model, and often longer than the thought.
  for (const { event } of page.data) if (event.type === "tandem.thinking") event.signature = null;
  return page;
}

let early: { session: string; page: Promise<LogPage>; known?: LogPage } | undefined;

/**
 * A page that is opened at a session reads its end before anything else of it is there; the browser has asked the server
 * for it before any script ran (`first-needs.ts`).
 */
export function readEarly(path: string): void {
  const session = /^\/sessions\/(\w+)$/.exec(path)?.[1];
  if (session === undefined) return;
  const own: typeof early = { session, page: readPage(session, { limit: FIRST_PAGE }) };
  // Who takes it hears of what went wrong.
  own.page.then(
    (page) => (own.known = page),
    () => undefined,
  );
  early = own;
}

/** What was read early, if it is there already. */
export const earlyPage = (session: string): LogPage | undefined =>
  early?.session === session ? early.known : undefined;

/** What was read early, once: whoever comes later wants what there is then. */
export function takeEarly(session: string): Promise<LogPage> | undefined {
  const found = early?.session === session ? early.page : undefined;
  early = undefined;
  return found;
}
