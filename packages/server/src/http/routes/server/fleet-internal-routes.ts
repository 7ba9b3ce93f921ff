import type { LiveDelta, SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";
import type { EventStream } from "../../sse/event-stream.ts";
import { namedFrame } from "../../sse/frame.ts";

/** Internal routes between processes of a fleet, on the same port and with tokens. */
export const fleetInternalRoutes: Route[] = [
  streamRoute("fleet.previews.stream", {
    scope: "read",
    at: "here",
    summary: "For servers: stream previews of a session that this process writes, each with the event that it follows",
    handle: async ({ engine, params }, { open }) => {
      const { id } = await engine.sessions.get(params.session_id);
      await writePreviews(engine.sessions, id, open);
    },
  }),
  jsonRoute("fleet.sends.settled", {
    scope: "read",
    at: "here",
    summary: "For servers of 0.1.0: always `null`, because the database stores the results of sends for retries",
    handle: async ({ engine, params }) => {
      await engine.sessions.get(params.session_id);
      return { begun: null };
    },
  }),
];

/** A server with more unsent bytes is disconnected; it reconnects and starts with the current previews. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Streams previews of a session of this process to another one. Each batch has the position of the event before it. */
async function writePreviews(
  sessions: Pick<Sessions, "head" | "follow" | "onDelta">,
  session: string,
  open: () => EventStream,
): Promise<void> {
  const id = session as SessionId;
  let after = await sessions.head(id);
  const stream = open();
  const hear = (deltas: readonly LiveDelta[]): void => {
    if (stream.unsent > MAX_UNSENT_BYTES) stream.destroy();
    else stream.write(namedFrame("previews", { after, deltas }));
  };
  const silence = sessions.onDelta(id, { after, from: "here", hear });
  stream.closed.addEventListener("abort", silence, { once: true });
  if (stream.closed.aborted) silence();
  for await (const events of sessions.follow(id, after, stream.closed)) after = events.at(-1)!.seq;
  stream.end();
}
