import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventId, LiveDelta, LoggedEvent, SessionEvent, ThreadId } from "@tandem/protocol";

const FOLDER = join(import.meta.dirname, "../../../../claude-code/src/session/translate/recordings");
const START = Date.parse("2026-11-18T08:00:00Z");

export type RecordedItem = { logged: LoggedEvent } | { delta: LiveDelta };

/** The names of all recordings of the real Claude Code. */
export const recordings = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".txt"))
  .map((name) => name.replace(/\.txt$/, ""));

/** A recording as a session's log: a message, the recorded events and previews, and the end of the turn. */
export function recordedLog(name: string): RecordedItem[] {
  let seq = 0;
  const logged = (type: string, id: string, body: object, thread: string | null = null): RecordedItem => {
    seq += 1;
    const event = { type, id, processed_at: new Date(START + seq).toISOString(), ...body } as unknown as SessionEvent;
    return { logged: { seq, thread: thread as ThreadId | null, event } };
  };
  const items = [
    logged("user.message", "sevt_0", { content: [{ type: "text", text: "Do it." }] }),
    logged("session.status_running", "sevt_00", {}),
  ];
  for (const line of readFileSync(join(FOLDER, `${name}.txt`), "utf8").split("\n")) {
    const [, thread, type, id, body] = /^(primary|sthr_\w+) {2}(\S+) {2}(sevt_\w+) {2}(\{.*\})$/.exec(line) ?? [];
    if (type === undefined) items.push(...previews(line).map((delta) => ({ delta: { thread: null, delta } })));
    else items.push(logged(type, id!, JSON.parse(body!) as object, thread === "primary" ? null : thread!));
  }
  const end = { stop_reason: { type: "end_turn" }, stop_details: null };
  return [...items, logged("session.status_idle", "sevt_end", end)];
}

function previews(line: string): LiveDelta["delta"][] {
  const [, start] = /^ {4}~ (\{.*\})$/.exec(line) ?? [];
  if (start !== undefined) return [JSON.parse(start) as LiveDelta["delta"]];
  const [, event_id, texts] = /^ {4}~ text of (sevt_\w+) (\[.*\])$/.exec(line) ?? [];
  if (texts === undefined) return [];
  return (JSON.parse(texts) as string[]).map((text) => ({
    type: "event_delta",
    event_id: event_id as EventId,
    delta: { type: "content_delta", content: { type: "text", text } },
  }));
}
