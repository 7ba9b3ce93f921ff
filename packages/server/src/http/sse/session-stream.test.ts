import { newId, type LiveDelta, type SessionEventBody, type SessionId, type ThreadId } from "@tandem/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { StreamReader } from "../../testing/read-stream.ts";
import { startTestServer, type TestServer } from "../../testing/start-test-server.ts";

const running: SessionEventBody = { type: "session.status_running" };
const idle: SessionEventBody = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
const notice = (text: string): SessionEventBody => ({ type: "tandem.notice", level: "info", text });
const message = (text: string): SessionEventBody => ({ type: "agent.message", content: [{ type: "text", text }] });
const started = (id: string, type: "agent.message" | "agent.thinking" = "agent.message"): LiveDelta => ({
  thread: null,
  delta: { type: "event_start", event: { type, id: id as never } },
});
const piece = (id: string, text: string, thread: ThreadId | null = null): LiveDelta => ({
  thread,
  delta: {
    type: "event_delta",
    event_id: id as never,
    delta: { type: "content_delta", content: { type: "text", text } },
  },
});

let memory: MemoryEngine;
let server: TestServer;
let session: SessionId;
beforeEach(async () => {
  memory = new MemoryEngine();
  server = await startTestServer({ engine: memory.engine });
  session = memory.createSession();
});
afterEach(() => server[Symbol.asyncDispose]());

const open = (query = "", headers: Record<string, string> = {}): Promise<StreamReader> =>
  StreamReader.open(server, `/v1/sessions/${session}/events/stream${query}`, headers);

describe("frames", () => {
  test("name Anthropic's event types `message` and Tandem's by their type, with the log position as id", async () => {
    await using stream = await open("?tandem=true");
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.response.headers.get("request-id")).toMatch(/^req_/);
    memory.append(session, running);
    memory.append(session, notice("hello"));
    memory.append(session, message("Two\nlines."));
    await stream.untilType("agent.message");
    expect(stream.events).toMatchObject([
      { event: "message", id: "1", data: { type: "session.status_running", processed_at: expect.any(String) } },
      { event: "tandem.notice", id: "2", data: { text: "hello" } },
      { event: "message", id: "3", data: { content: [{ text: "Two\nlines." }] } },
    ]);
  });

  test("start with events after the stream is open: there is no replay", async () => {
    memory.append(session, running);
    memory.append(session, idle);
    await using stream = await open();
    memory.append(session, running);
    await stream.untilType("session.status_running");
    expect(stream.events.map(({ id }) => id)).toEqual(["3"]);
  });

  test("include every event appended after the response", async () => {
    for (let i = 0; i < 20; i++) {
      await using stream = await open();
      const { seq } = memory.append(session, running);
      await stream.until(({ id }) => id === String(seq));
      expect(stream.events).toHaveLength(1);
    }
  });
});

describe("resuming after Last-Event-ID", () => {
  test("has neither gap nor duplicate, even while the log is being written", async () => {
    const total = 1_500;
    for (let i = 0; i < total / 2; i++) memory.append(session, message(`${i}`));
    const streams = await Promise.all(["0", "1", "300", "749", "750"].map((id) => open("", { "last-event-id": id })));
    for (let i = total / 2; i < total; i++) {
      memory.append(session, message(`${i}`));
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const [index, from] of [0, 1, 300, 749, 750].entries()) {
      await using stream = streams[index]!;
      await stream.until(({ id }) => id === String(total));
      expect(stream.events.map(({ id }) => Number(id))).toEqual(
        Array.from({ length: total - from }, (_, i) => from + 1 + i),
      );
    }
  });

  test("with the id of the last event gets only new events", async () => {
    memory.append(session, running);
    await using stream = await open("", { "last-event-id": "1" });
    memory.append(session, message("new"));
    await stream.untilType("agent.message");
    expect(stream.events.map(({ id }) => id)).toEqual(["2"]);
  });

  test.each(["2", "-1", "1.5", "abc", "sevt_01", "9999999999999999999"])(
    "an id that is not of this session's stream (%s) is refused with a fix",
    async (id) => {
      memory.append(session, running);
      const response = await server.request(`/v1/sessions/${session}/events/stream`, {
        headers: { "last-event-id": id },
      });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("list the session's events");
    },
  );

  test("does not reach into another session", async () => {
    const other = memory.createSession();
    memory.append(other, notice("a secret of the other"));
    memory.append(session, running);
    await using stream = await open("", { "last-event-id": "0" });
    memory.append(other, notice("another"));
    memory.append(session, idle);
    await stream.untilType("session.status_idle");
    expect(stream.types).toEqual(["session.status_running", "session.status_idle"]);
  });
});

describe("Tandem's own events", () => {
  const play = (): void => {
    memory.append(session, notice("before the turn"));
    memory.append(session, running);
    memory.append(session, notice("within the turn"));
    memory.append(session, idle);
    memory.append(session, notice("after the turn"));
    memory.append(session, { type: "session.updated", title: "New" });
  };
  const untilTheEnd = (stream: StreamReader) => stream.until(({ id }) => id === "6");
  const standard = ["session.status_running", "session.status_idle", "session.updated"];

  test("are sent only to clients that ask: the official ones do not know them", async () => {
    await using plain = await open();
    await using declining = await open("?tandem=false");
    await using asking = await open("?tandem=true");
    play();
    for (const stream of [plain, declining, asking]) await untilTheEnd(stream);
    expect([plain.types, declining.types]).toEqual([standard, standard]);
    expect(asking.events.flatMap(({ data }) => data!["text"] ?? [])).toHaveLength(3);
    await using resumed = await open("", { "last-event-id": "2" });
    await untilTheEnd(resumed);
    expect(resumed.types).toEqual(standard.slice(1));
  });

  test("are listed, but not for the official tool runner", async () => {
    play();
    const listed = async (query: string, headers: Record<string, string> = {}): Promise<string[]> => {
      const response = await server.request(`/v1/sessions/${session}/events${query}`, { headers });
      return ((await response.json()) as { data: { type: string }[] }).data.map(({ type }) => type);
    };
    const runner = { "x-stainless-helper": "session-tool-runner" };
    expect(await listed("")).toHaveLength(6);
    expect(await listed("", runner)).toEqual(standard);
    expect(await listed("?tandem=false")).toEqual(standard);
    expect(await listed("?limit=2&order=desc", runner)).toEqual(standard.slice(1).toReversed());
    expect(await listed("?tandem=true", runner)).toHaveLength(6);
    expect(await listed("?types[]=tandem.notice", runner)).toEqual(Array(3).fill("tandem.notice"));
  });
});

describe("previews", () => {
  const id = newId("event");

  test("are sent on request, before their event and without an id", async () => {
    await using plain = await open();
    await using messages = await open("?event_deltas[]=agent.message");
    await using both = await open("?event_deltas%5B%5D=agent.message&event_deltas%5B%5D=agent.thinking");
    await using ours = await open("?tandem=true");
    const thought = newId("event");
    memory.append(session, running);
    await memory.preview(session, started(thought, "agent.thinking"));
    await memory.preview(session, {
      thread: null,
      delta: { type: "tandem.thinking_delta", event_id: thought, text: "Hm." },
    });
    memory.append(session, { type: "agent.thinking" }, { id: thought });
    await memory.preview(session, started(id), piece(id, "Hel"), piece(id, "lo"));
    memory.append(session, message("Hello"), { id });
    memory.append(session, idle);
    for (const stream of [plain, messages, both, ours]) await stream.untilType("session.status_idle");
    const durable = ["session.status_running", "agent.thinking", "agent.message", "session.status_idle"];
    expect(plain.types).toEqual(durable);
    expect(messages.types.filter((type) => !durable.includes(type as string))).toEqual([
      "event_start",
      "event_delta",
      "event_delta",
    ]);
    expect(messages.types.indexOf("event_delta")).toBeLessThan(messages.types.indexOf("agent.message"));
    expect(both.types.filter((type) => type === "event_start")).toHaveLength(2);
    expect(ours.types).toContain("tandem.thinking_delta");
    expect(ours.types).not.toContain("event_start");
    for (const { event, id: frameId, data } of messages.events) {
      expect(event).toBe("message");
      expect(frameId === undefined).toBe(String(data!["type"]).startsWith("event_"));
    }
  });

  test("of other event types are refused", async () => {
    const response = await server.request(`/v1/sessions/${session}/events/stream?event_deltas[]=agent.tool_use`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("agent.thinking");
  });

  const textIn = (stream: StreamReader, of: string): string =>
    stream.events
      .map(({ data }) => data as { type: string; event_id?: string; delta?: { content: { text: string } } })
      .filter((data) => data.type === "event_delta" && data.event_id === of)
      .map(({ delta }) => delta!.content.text)
      .join("");

  test("are complete: a client that joins during a response starts with the text so far", async () => {
    await using early = await open("?event_deltas[]=agent.message");
    await memory.preview(session, started(id), piece(id, "He"), piece(id, "l"));
    await early.until(({ data }) => JSON.stringify(data).includes('"l"'));
    await using late = await open("?event_deltas[]=agent.message");
    await using without = await open();
    await memory.preview(session, piece(id, "lo"));
    memory.append(session, message("Hello"), { id });
    await late.untilType("agent.message");
    await without.untilType("agent.message");
    expect(late.types).toEqual(["event_start", "event_delta", "event_delta", "agent.message"]);
    expect([textIn(early, id), textIn(late, id)]).toEqual(["Hello", "Hello"]);
    expect(without.types).toEqual(["agent.message"]);
    await using last = await open("?event_deltas[]=agent.message");
    memory.append(session, idle);
    await last.untilType("session.status_idle");
    expect(last.types).toEqual(["session.status_idle"]);
  });

  test("are complete for the first listener, too, if it joins during a response", async () => {
    await memory.preview(session, started(id), piece(id, "Hel"));
    await using late = await open("?event_deltas[]=agent.message&tandem=true");
    await memory.preview(session, piece(id, "lo"));
    memory.append(session, message("Hello"), { id });
    const progress = { type: "tandem.tool_progress" as const, event_id: id as never, elapsed_seconds: 30 };
    await memory.preview(session, { thread: null, delta: progress });
    await late.untilType("tandem.tool_progress");
    expect(late.types).toEqual(["event_start", "event_delta", "event_delta", "agent.message", "tandem.tool_progress"]);
    expect(textIn(late, id)).toBe("Hello");
  });

  test("start late, but complete, while this process lags behind the writer of the session", async () => {
    await using early = await open("?event_deltas[]=agent.message");
    await memory.preview(session, started(id), piece(id, "He"));
    memory.lagsBehind = true;
    await using late = await open("?event_deltas[]=agent.message");
    await memory.preview(session, piece(id, "ll"));
    await early.until(({ data }) => JSON.stringify(data).includes('"ll"'));
    expect(late.types).toEqual([]);
    memory.lagsBehind = false;
    await late.untilType("event_delta");
    await memory.preview(session, piece(id, "o"));
    memory.append(session, message("Hello"), { id });
    await Promise.all([early.untilType("agent.message"), late.untilType("agent.message")]);
    expect([textIn(early, id), textIn(late, id)]).toEqual(["Hello", "Hello"]);
  });

  test("come after the missed events when a client resumes", async () => {
    await using early = await open("?event_deltas[]=agent.message");
    for (const text of ["1", "2", "3"]) memory.append(session, message(text));
    await memory.preview(session, started(id), piece(id, "Hel"));
    await early.untilType("event_delta");
    await using late = await open("?event_deltas[]=agent.message", { "last-event-id": "1" });
    await late.untilType("event_delta");
    await memory.preview(session, piece(id, "lo"));
    memory.append(session, message("Hello"), { id });
    await late.until(({ data }) => data?.["id"] === id);
    expect(late.types).toEqual([
      "agent.message",
      "agent.message",
      "event_start",
      "event_delta",
      "event_delta",
      "agent.message",
    ]);
    expect(textIn(late, id)).toBe("Hello");
  });

  test("never repeat an event that a client has already, even if other clients do not have it yet", async () => {
    await using early = await open("?event_deltas[]=agent.message");
    for (let round = 0; round < 10; round++) {
      const next = newId("event");
      await memory.preview(session, started(next), piece(next, "Bye"));
      const { seq } = memory.append(session, message("Bye"), { id: next });
      // It has read the log up to here from another server.
      await using late = await open("?event_deltas[]=agent.message", { "last-event-id": String(seq) });
      const { seq: last } = memory.append(session, message("The end."));
      await late.until((event) => event.id === String(last));
      expect(late.types.at(-1)).toBe("agent.message");
      expect(textIn(late, next)).toBe("");
      await early.until((event) => event.id === String(last));
      expect(textIn(early, next)).toBe("Bye");
    }
  });
});

describe("threads", () => {
  test("have their own streams, and the session's stream has what concerns the session", async () => {
    const thread = memory.createThread(session);
    const other = memory.createThread(session);
    await using main = await open("?event_deltas[]=agent.message");
    await using own = await StreamReader.open(
      server,
      `/v1/sessions/${session}/threads/${thread}/stream?event_deltas[]=agent.message`,
    );
    const id = newId("event");
    memory.append(session, {
      type: "session.thread_created",
      session_thread_id: thread,
      agent_name: "scout",
      workflow_run_id: null,
    });
    await memory.preview(session, { ...started(id), thread }, piece(id, "From below", thread));
    memory.append(session, message("From below"), { thread, id });
    memory.append(session, message("From elsewhere"), { thread: other });
    const use = { name: "Bash", input: {}, tandem: { tool_use_id: "toolu_1" } };
    memory.append(session, { type: "agent.tool_use", evaluated_permission: "ask", ...use }, { thread });
    memory.append(session, message("From above"));
    memory.append(session, {
      type: "session.thread_status_terminated",
      session_thread_id: thread,
      agent_name: "scout",
    });
    await main.untilType("session.thread_status_terminated");
    await own.untilType("session.thread_status_terminated");
    expect(main.types).toEqual([
      "session.thread_created",
      "agent.tool_use",
      "agent.message",
      "session.thread_status_terminated",
    ]);
    expect(own.types).toEqual([
      "session.thread_created",
      "event_start",
      "event_delta",
      "agent.message",
      "agent.tool_use",
      "session.thread_status_terminated",
    ]);
  });

  test("the primary thread shares the session's stream", async () => {
    const response = await server.request(`/v1/sessions/${session}/threads`);
    const { data } = (await response.json()) as { data: { id: string }[] };
    await using stream = await StreamReader.open(server, `/v1/sessions/${session}/threads/${data[0]!.id}/stream`);
    memory.append(session, running);
    expect(await stream.untilType("session.status_running")).toMatchObject({ id: "1" });
  });

  test("threads that do not exist are not found", async () => {
    const response = await server.request(`/v1/sessions/${session}/threads/sthr_nothing/stream`);
    expect(response.status).toBe(404);
  });
});
