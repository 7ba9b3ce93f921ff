import { RequestError, type ResponseOf, type ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EncodedEvent } from "@tandem/storage";
import { EncodedAnswer } from "../../encoded-answer.ts";
import { findThread, inLog } from "../../events/find-thread.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** The events are already JSON, as the store has them. */
interface LogPage extends Omit<ResponseOf<"sessions.log.list">, "data" | "head"> {
  data: EncodedEvent[];
}

/** A window of the log, for links to an event far from its end. */
async function pageAround(
  sessions: Sessions,
  session: string,
  { around, limit, thread }: { around: string; limit: number; thread: ThreadId | null },
): Promise<LogPage> {
  const position = await sessions.position(session, around);
  if (position === undefined) throw new RequestError("not_found", `The session ${session} has no event ${around}.`);
  const half = Math.floor(limit / 2);
  const before =
    half === 0
      ? []
      : (
          await sessions.encodedEvents(session, { order: "desc", limit: half, before: position, thread })
        ).events.toReversed();
  const from = await sessions.encodedEvents(session, { after: position - 1, limit: limit - before.length, thread });
  const data = [...before, ...from.events];
  return { data, waiting: from.waiting, before: before.length < half ? null : (data[0]?.seq ?? null) };
}

export const sessionLogRoutes: Route[] = [
  jsonRoute("sessions.log.list", {
    scope: "read",
    at: "here",
    summary:
      "List events with their positions in the log, in pages from the end: for clients that fold events themselves",
    handle: async ({ engine, params, query }) => {
      const { session_id: session } = params;
      const thread =
        query.thread === undefined ? null : inLog(await findThread(engine.sessions, session, query.thread));
      const head = await engine.sessions.head(session);
      const { limit, before, around } = query;
      if (around !== undefined) {
        return encodePage(await pageAround(engine.sessions, session, { around, limit, thread }), head);
      }
      const page = await engine.sessions.encodedEvents(session, { order: "desc", limit, before, thread });
      const data = page.events.toReversed();
      const next = data.length < limit ? null : (data[0]?.seq ?? null);
      return encodePage({ data, waiting: page.waiting, before: next }, head);
    },
  }),
];

function encodePage({ data, ...rest }: LogPage, head: number): EncodedAnswer {
  const entries = data.map(
    ({ seq, thread, json }) => `{"seq":${seq},"thread":${JSON.stringify(thread)},"event":${json}}`,
  );
  return new EncodedAnswer(`{"data":[${entries.join(",")}],${JSON.stringify({ ...rest, head }).slice(1)}`);
}
