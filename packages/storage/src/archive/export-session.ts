import { isId, RequestError } from "@tandem/protocol";
import { logEvents } from "../read-all.ts";
import type { Store } from "../store.ts";
import { ARCHIVE_VERSION, type ArchiveLine } from "./archive-line.ts";

/**
 * Writes a session as JSON Lines for `importSession`. Uploaded files are not included. Events appended during the
 * export may or may not be included.
 */
export async function* exportSession(store: Store, id: string): AsyncIterable<string> {
  let count = 0;
  const line = (content: ArchiveLine): string => {
    count += 1;
    return JSON.stringify(content);
  };
  const session = await store.sessions.get(id);
  if (!session || !isId("session", id)) throw new RequestError("not_found", `There is no session ${id}.`);
  yield line({ type: "tandem.session", version: ARCHIVE_VERSION });
  yield line({ type: "session", session });
  for (const thread of await store.sessions.threads(id)) yield line({ type: "thread", thread });
  for await (const event of logEvents(store.events, id)) yield line({ type: "event", ...event });
  for (const subpath of await store.transcripts.subpaths(id)) {
    for (const each of await store.transcripts.load(id, subpath))
      yield line({ type: "transcript", subpath, line: each });
  }
  for (const event of await store.inputQueue.list(id)) yield line({ type: "inbox", event });
  yield line({ type: "end", lines: count });
}
