import type { QueryInput, ResponseOf, SessionEvent } from "@tandem/protocol";
import { api, ApiError } from "../api/client.ts";

/** Number of latest events in the first request. */
export const FIRST_PAGE = 600;
/** Number of events around a linked part in the first request: several screens in both directions. */
const AROUND = 200;

export type LogPage = ResponseOf<"sessions.log.list">;

/** The end of a log and, for a link to a part further back, the events around that part. */
export interface LogStart {
  end: LogPage;
  around: LogPage | undefined;
}

export async function readPage(
  session: string,
  query: QueryInput<"sessions.log.list">,
  signal?: AbortSignal,
): Promise<LogPage> {
  const page = await api.call("sessions.log.list", { params: { session_id: session }, query, signal });
  // Only the model needs the signature, which is often longer than the text. Drop it to save memory.
  for (const { event } of page.data) if (event.type === "tandem.thinking") event.signature = null;
  return page;
}

/** Undefined if the server cannot find the part by its event: parts of subagents and workflows have other ids. */
export async function readAround(
  session: string,
  { part, thread }: { part: string; thread?: string | undefined },
  signal?: AbortSignal,
): Promise<LogPage | undefined> {
  const around = /^sevt_\w+/.exec(part)?.[0];
  if (around === undefined) return undefined;
  try {
    const page = await readPage(session, { limit: AROUND, around, thread }, signal);
    return page.data.some(({ event }) => belongsToEvent(event, part)) ? page : undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export async function readStart(
  session: string,
  { part, thread }: { part?: string | undefined; thread?: string | undefined },
  signal?: AbortSignal,
): Promise<LogStart> {
  const [end, around] = await Promise.all([
    readPage(session, { limit: part === undefined ? FIRST_PAGE : AROUND, thread }, signal),
    part === undefined ? undefined : readAround(session, { part, thread }, signal),
  ]);
  return { end, around };
}

/** Part ids start with their event's id; parts of subagents have the thread's id. */
export const belongsToEvent = (event: SessionEvent, part: string): boolean =>
  part === event.id ||
  part.startsWith(`${event.id}.`) ||
  (event.type === "session.thread_created" && event.session_thread_id === part) ||
  (event.type === "workflow_run.created" && event.workflow_run_id === part);

let prefetched: { session: string; start: Promise<LogStart>; known?: LogStart } | undefined;

/** Prefetches the log when the page opens at a session, before the first render. */
export function prefetchLog({ pathname, search }: { pathname: string; search: string }): void {
  const session = /^\/sessions\/(\w+)$/.exec(pathname)?.[1];
  if (session === undefined) return;
  const part = new URLSearchParams(search).get("part") ?? undefined;
  const own: typeof prefetched = { session, start: readStart(session, { part }) };
  // The consumer of the promise handles the error; this only avoids an unhandled rejection.
  own.start.then(
    (start) => (own.known = start),
    () => undefined,
  );
  prefetched = own;
}

/** The prefetched start, if it has arrived. */
export const prefetchedStart = (session: string): LogStart | undefined =>
  prefetched?.session === session ? prefetched.known : undefined;

/** Hands out the prefetched start once. Later callers need a fresh one. */
export function takePrefetched(session: string): Promise<LogStart> | undefined {
  const found = prefetched?.session === session ? prefetched.start : undefined;
  prefetched = undefined;
  return found;
}
