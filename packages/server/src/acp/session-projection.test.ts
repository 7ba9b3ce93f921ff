import { newId, type LoggedEvent, type SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import { SessionProjection } from "./session-projection.ts";

const logged = (body: SessionEventBody, id = newId("event")): LoggedEvent => ({
  seq: 1,
  thread: null,
  event: { ...body, id, processed_at: "2026-11-15T00:00:00.000Z" } as LoggedEvent["event"],
});

test("what is to do is the plan", () => {
  const todos = [{ id: "1", content: "Mend", status: "in_progress" as const }];
  expect(new SessionProjection("/work").event(logged({ type: "tandem.todo", todos }))).toEqual([
    { type: "plan", entries: [{ content: "Mend", status: "in_progress" }] },
  ]);
});

test("what a preview has shown is not shown again, and what it has not is", () => {
  const projection = new SessionProjection("/work");
  const id = newId("event");
  const delta = { type: "content_delta" as const, content: { type: "text" as const, text: "Hello" } };
  projection.delta({ thread: null, delta: { type: "event_delta", event_id: id, delta } });
  const message: SessionEventBody = { type: "agent.message", content: [{ type: "text", text: "Hello, world" }] };
  expect(projection.event(logged(message, id))).toEqual([
    { type: "message", role: "agent", id, piece: { type: "text", text: ", world" } },
  ]);
});

test("a call whose input was never finished is closed with its turn", () => {
  const projection = new SessionProjection("/work");
  const id = newId("event");
  projection.delta({ thread: null, delta: { type: "tandem.tool_input_start", event_id: id, name: "Bash" } });
  const idle: SessionEventBody = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
  expect(projection.event(logged(idle))).toMatchObject([{ type: "tool_call", id, change: { status: "failed" } }]);
});
