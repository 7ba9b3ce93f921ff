import { type QueryOutput, RequestError, type SessionId, type ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { Call, StreamRoute } from "../route.ts";
import { Audience } from "../sse/audience.ts";

/** Streams a session or one of its threads to a client. */
export async function openSessionStream(
  sessions: Sessions,
  request: {
    session: string;
    thread: ThreadId | null;
    query: QueryOutput<"sessions.events.stream">;
    header: Call["header"];
  },
  { hubs, open }: Parameters<StreamRoute["handle"]>[1],
): Promise<void> {
  const session = request.session as SessionId;
  const after = await readLastEventId(sessions, session, request.header("last-event-id"));
  const audience = new Audience({
    thread: request.thread,
    previews: request.query.event_deltas ?? [],
    tandem: request.query.tandem === "true",
  });
  await hubs.join(session, { audience, after, open });
}

async function readLastEventId(
  sessions: Sessions,
  session: SessionId,
  text: string | undefined,
): Promise<number | undefined> {
  if (text === undefined || text === "") return undefined;
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (seq !== undefined && seq <= (await sessions.head(session))) return seq;
  throw new RequestError("invalid_request", "Last-Event-ID: this is not the id of an event of this session's stream.", {
    fix: "Open the stream without it, list the session's events, and pass over those whose `id` you have.",
  });
}
