import { newId, type LoggedEvent, type SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import { SessionProjection } from "./session-projection.ts";

const logged = (body: SessionEventBody, id = newId("event")): LoggedEvent => ({
  seq: 1,
  thread: null,
  event: { ...body, id, processed_at: "2026-11-15T00:00:00.000Z" },
});

test("todos are shown as a plan", () => {
  const todos = [{ id: "1", content: "Fix", status: "in_progress" as const }];
  expect(new SessionProjection("/work", () => undefined).event(logged({ type: "tandem.todo", todos }))).toEqual([
    { type: "plan", entries: [{ content: "Fix", status: "in_progress" }] },
  ]);
});

test("text that a preview has shown is not repeated, and missing text is added", () => {
  const projection = new SessionProjection("/work", () => undefined);
  const id = newId("event");
  const delta = { type: "content_delta" as const, content: { type: "text" as const, text: "Hello" } };
  projection.delta({ thread: null, delta: { type: "event_delta", event_id: id, delta } });
  const message: SessionEventBody = { type: "agent.message", content: [{ type: "text", text: "Hello, world" }] };
  expect(projection.event(logged(message, id))).toEqual([
    { type: "message", role: "agent", id, piece: { type: "text", text: ", world" } },
  ]);
});

test("a call whose input was never completed is closed with its turn", () => {
  const projection = new SessionProjection("/work", () => undefined);
  const id = newId("event");
  projection.delta({ thread: null, delta: { type: "tandem.tool_input_start", event_id: id, name: "Bash" } });
  const idle: SessionEventBody = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
  expect(projection.event(logged(idle))).toMatchObject([{ type: "tool_call", id, change: { status: "failed" } }]);
});

test("the context window is that of the answering model", () => {
  const projection = new SessionProjection("/work", (model) => ({ small: 100, "small[1m]": 1_000, large: 500 })[model]);
  const sizes = (body: SessionEventBody) =>
    projection.event(logged(body)).map((patch) => (patch.type === "usage" ? patch.size : patch.type));
  const init = (model: string): SessionEventBody => ({
    type: "tandem.init",
    model,
    tools: [],
    mcp_servers: [],
    folder: "/work",
    claude_session_id: "c",
    claude_code_version: "2",
  });
  const answered = (model?: string): SessionEventBody => ({
    type: "span.model_request_end",
    model_request_start_id: newId("event"),
    is_error: false,
    model_usage: { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    tandem: { ...(model !== undefined && { model }) },
  });
  expect(sizes(answered())).toEqual([200_000]);
  expect(sizes(init("small[1m]"))).toEqual([]);
  expect(sizes(answered("small"))).toEqual([1_000]);
  expect(sizes(answered("large"))).toEqual([500]);
  expect(sizes(answered("unheard of"))).toEqual([200_000]);
});
