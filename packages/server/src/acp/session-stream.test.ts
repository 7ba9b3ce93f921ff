import { newId, type EventId, type LiveDelta, type SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { SessionStream, type StreamedItem } from "./session-stream.ts";

const says = (text: string): SessionEventBody => ({ type: "agent.message", content: [{ type: "text", text }] });
const begins = (id: EventId): LiveDelta => ({
  thread: null,
  delta: { type: "event_start", event: { type: "agent.message", id } },
});
const grows = (id: EventId, text: string): LiveDelta => ({
  thread: null,
  delta: { type: "event_delta", event_id: id, delta: { type: "content_delta", content: { type: "text", text } } },
});
const inShort = (item: StreamedItem): string => {
  if (item.type === "event") return `${item.logged.seq}`;
  const { delta } = item.delta;
  return delta.type === "event_delta" ? delta.delta.content.text : delta.type;
};

test.each([1, 3])("an editor that connects during a response gets earlier events first (after %i)", async (after) => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  for (const text of ["one", "two", "three"]) memory.append(session, says(text));
  const id = newId("event");
  await memory.preview(session, begins(id), grows(id, "Hel"), grows(id, "lo"));
  const end = new AbortController();
  const seen: string[] = [];
  for await (const item of new SessionStream(memory.engine.sessions, session, after, end.signal)) {
    seen.push(inShort(item));
    if (seen.at(-1) === "Hello") {
      await memory.preview(session, grows(id, " there"));
      memory.append(session, says("Hello there"), { id });
    }
    if (seen.at(-1) === "4") break;
  }
  end.abort();
  expect(seen).toEqual([...["2", "3"].slice(after - 1), "event_start", "Hello", " there", "4"]);
});
