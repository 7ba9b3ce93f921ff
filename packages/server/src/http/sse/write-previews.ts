import type { LiveDelta, SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { EventStream } from "./event-stream.ts";
import { namedFrame } from "./frame.ts";

/** A server with more unsent bytes is disconnected; it reconnects and starts with the current previews. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Streams previews of a session of this process to another one. Each batch has the position of the event before it. */
export async function writePreviews(
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
