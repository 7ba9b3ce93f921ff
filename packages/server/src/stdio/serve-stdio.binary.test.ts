import { type SessionEventBody, type SessionId } from "@tandem/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { StdioStage } from "../testing/stdio-stage.ts";
import { methods } from "./methods.ts";
import type { Wire } from "./wire.ts";

const message = (text: string): SessionEventBody => ({ type: "agent.message", content: [{ type: "text", text }] });
const running: SessionEventBody = { type: "session.status_running" };

let memory: MemoryEngine;
let session: SessionId;
beforeEach(() => {
  memory = new MemoryEngine();
  session = memory.createSession();
});

describe("the handshake", () => {
  test("starts with Tandem's version and features, before the host sends anything", async () => {
    await using stage = await StdioStage.open(memory.engine, { greet: false });
    const { hello } = (await stage.until(() => true)) as { hello?: Record<string, unknown> };
    expect(hello).toMatchObject({ protocol: 1, product: "tandem", version: "1.2.3", engine: "own" });
    const { methods: offered } = hello!["capabilities"] as { methods: string[] };
    expect(offered).toEqual(expect.arrayContaining(["hello", "cancel", ...methods.keys()]));
  });

  test("rejects a host of an unsupported version, which may retry with another one", async () => {
    await using stage = await StdioStage.open(memory.engine, { greet: false });
    expect(await stage.ask("hello", { protocol: 2 })).toMatchObject({
      error: { type: "protocol_mismatch", status: 400, details: { protocols: [1] } },
    });
    expect(await stage.ask("models.list")).toMatchObject({ error: { message: expect.stringContaining("protocol") } });
    expect(await stage.ask("hello", { protocol: 1 })).toMatchObject({ result: { protocol: 1 } });
    expect(await stage.ask("models.list")).toMatchObject({ result: { data: [{ id: "claude-sonnet-5-5" }] } });
  });
});

describe("requests", () => {
  test("are validated and refused with the errors of the HTTP API", async () => {
    await using server = await startTestServer({ engine: memory.engine });
    await using stage = await StdioStage.open(memory.engine);
    const wrong: [string, Record<string, unknown>, string, RequestInit?][] = [
      ["sessions.retrieve", { session_id: "sesn_none" }, "/v1/sessions/sesn_none"],
      ["sessions.list", { limit: 0 }, "/v1/sessions?limit=0"],
      ["sessions.list", { statuses: ["asleep"] }, "/v1/sessions?statuses[]=asleep"],
      [
        "sessions.events.stream",
        { session_id: session, after: "99" },
        `/v1/sessions/${session}/events/stream`,
        { headers: { "last-event-id": "99" } },
      ],
      [
        "sessions.events.send",
        { session_id: session, events: [] },
        `/v1/sessions/${session}/events`,
        { method: "POST", body: '{"events":[]}', headers: { "content-type": "application/json" } },
      ],
    ];
    for (const [method, params, path, init] of wrong) {
      const answer = await server.request(path, init);
      const { error } = (await answer.json()) as { error: object };
      expect(await stage.askWrong(method, params)).toMatchObject({ error: { ...error, status: answer.status } });
    }
  });

  test("requests that are invalid get a response each, with their id if they have one", async () => {
    await using stage = await StdioStage.open(memory.engine, { limits: { lineBytes: 4_096 } });
    stage.sendWrong("{");
    expect(await stage.until((line) => line.id === null)).toMatchObject({
      error: { message: "The line is not valid JSON." },
    });
    stage.lines.length = 0;
    stage.sendWrong("x".repeat(100_000));
    expect(await stage.until((line) => line.id === null)).toMatchObject({ error: { status: 413 } });
    stage.lines.length = 0;
    stage.sendWrong("[".repeat(1_000));
    expect(await stage.until((line) => line.id === null)).toMatchObject({
      error: { message: expect.stringContaining("nested") },
    });
    stage.sendWrong('{"id":"a"}');
    expect(await stage.until((line) => line.id === "a")).toMatchObject({
      error: { message: expect.stringContaining("method") },
    });
    expect(await stage.askWrong("sessions.lst")).toMatchObject({
      error: { status: 404, message: expect.stringContaining("sessions.list") },
    });
    expect(await stage.askWrong("dreams.create")).toMatchObject({ error: { status: 404 } });
    expect(await stage.askWrong("sessions.retrieve")).toMatchObject({
      error: { status: 400, message: "session_id: is missing." },
    });
    for (const id of ["..", "a/../b", "?", ""]) {
      expect(await stage.askWrong("sessions.retrieve", { session_id: id })).toMatchObject({
        error: { status: expect.toSatisfy((code) => code === 404 || code === 400) },
      });
    }
    expect(await stage.ask("models.list")).toHaveProperty("result");
  });

  test("a response that exceeds the line limit is an error with a fix", async () => {
    for (let i = 0; i < 100; i += 1) memory.append(session, message("x".repeat(100)));
    await using stage = await StdioStage.open(memory.engine, { limits: { lineBytes: 8_192 } });
    expect(await stage.ask("sessions.events.list", { session_id: session, limit: 90 })).toMatchObject({
      error: { status: 413 },
    });
    expect(await stage.ask("sessions.events.list", { session_id: session, limit: 2 })).toHaveProperty("result");
  });

  test("are limited in number and answered once; a cancelled one is reported as cancelled", async () => {
    const gate = Promise.withResolvers<void>();
    memory.beforeSend = () => gate.promise;
    await using stage = await StdioStage.open(memory.engine, { limits: { requests: 3 } });
    const params = { session_id: session, events: [{ type: "user.interrupt" }] };
    for (const id of ["a", "b", "c"]) stage.send({ id, method: "sessions.events.send", params });
    stage.send({ id: "d", method: "sessions.events.send", params });
    expect(await stage.until(({ id }) => id === "d")).toMatchObject({
      error: { type: "rate_limit_error", status: 429 },
    });
    stage.sendWrong(JSON.stringify({ id: "a", method: "models.list" }));
    expect(await stage.until(({ id }) => id === "a")).toMatchObject({ error: { status: 409 } });
    stage.lines.length = 0;
    expect(await stage.ask("cancel", { id: "b" })).toMatchObject({ result: { cancelled: true } });
    expect(await stage.until(({ id }) => id === "b")).toMatchObject({ error: { type: "cancelled", status: 499 } });
    expect(await stage.ask("cancel", { id: "b" })).toMatchObject({ result: { cancelled: false } });
    gate.resolve();
    expect(await stage.until(({ id }) => id === "a")).toHaveProperty("result");
    expect(await stage.until(({ id }) => id === "c")).toHaveProperty("result");
  });

  test("in progress when the host closes its end are answered before Tandem exits", async () => {
    const gate = Promise.withResolvers<void>();
    memory.beforeSend = () => gate.promise;
    await using stage = await StdioStage.open(memory.engine);
    stage.send({ id: 1, method: "sessions.events.stream", params: { session_id: session } });
    stage.send({
      id: 2,
      method: "sessions.events.send",
      params: { session_id: session, events: [{ type: "user.interrupt" }] },
    });
    await stage.until((line) => line.id === 1);
    const ended = stage.end();
    await stage.until((line) => line["stream"] === 1 && "end" in line);
    gate.resolve();
    await ended;
    expect(await stage.until((line) => line.id === 2)).toHaveProperty("result");
  });
});

describe("streams", () => {
  test("send events with a cursor to resume from, and previews without one", async () => {
    await using stage = await StdioStage.open(memory.engine);
    stage.send({
      id: "s",
      method: "sessions.events.stream",
      params: { session_id: session, event_deltas: ["agent.message"] },
    });
    await stage.until(({ id }) => id === "s");
    memory.append(session, running);
    await memory.preview(session, {
      thread: null,
      delta: { type: "event_start", event: { type: "agent.message", id: "sevt_1" as never } },
    });
    memory.append(session, message("One.\nTwo.\u2028Three."), { id: "sevt_1" });
    await stage.until((line) => line["cursor"] === "2");
    expect(stage.eventsOf("s")).toMatchObject([
      { cursor: "1", event: { type: "session.status_running" } },
      { event: { type: "event_start" } },
      { cursor: "2", event: { type: "agent.message", content: [{ text: "One.\nTwo.\u2028Three." }] } },
    ]);
    stage.send({ id: "t", method: "sessions.events.stream", params: { session_id: session, after: "1" } });
    await stage.until((line) => line["stream"] === "t");
    expect(stage.eventsOf("t")).toMatchObject([{ cursor: "2" }]);
  });

  test("end when cancelled, and send nothing afterwards", async () => {
    await using stage = await StdioStage.open(memory.engine);
    stage.send({ id: "s", method: "sessions.events.stream", params: { session_id: session, after: "0" } });
    memory.append(session, running);
    await stage.until((line) => "event" in line);
    expect(await stage.ask("cancel", { id: "s" })).toMatchObject({ result: { cancelled: true } });
    expect(stage.lines.at(-2)).toEqual({ stream: "s", end: { cursor: "1" } });
    memory.append(session, running);
    await expect.poll(() => memory.listeners).toBe(0);
    expect(await stage.ask("models.list")).toHaveProperty("result");
    expect(stage.eventsOf("s")).toHaveLength(1);
  });

  test("end with their session", async () => {
    await using stage = await StdioStage.open(memory.engine);
    stage.send({ id: "s", method: "sessions.events.stream", params: { session_id: session } });
    await stage.until(({ id }) => id === "s");
    await stage.ask("sessions.delete", { session_id: session });
    await stage.until((line) => "end" in line);
    expect(stage.eventsOf("s").map(({ event }) => event.type)).toEqual(["session.deleted"]);
  });

  test("of all sessions start with a snapshot", async () => {
    await using stage = await StdioStage.open(memory.engine);
    stage.send({ id: "feed", method: "feed.stream" });
    expect(await stage.until((line) => "event" in line)).toEqual({
      stream: "feed",
      event: { type: "snapshot", sessions: [] },
    });
  });

  test("wait for a host that does not read, and lose nothing", async () => {
    const total = 5_000;
    for (let i = 0; i < total; i += 1) memory.append(session, message(`${i} ${"x".repeat(4_000)}`));
    await using stage = await StdioStage.open(memory.engine, { reads: false });
    stage.send({ id: "s", method: "sessions.events.stream", params: { session_id: session, after: "0" } });
    await expect.poll(() => memory.read(session)).toBeGreaterThan(100);
    // Twenty megabytes are available; only the buffers fill.
    let before = -1;
    await expect.poll(() => before === (before = memory.read(session)), { interval: 100 }).toBe(true);
    expect(before).toBeLessThan(500);
    // Further requests are not even read.
    for (let i = 0; i < 500; i += 1) stage.send({ id: i, method: "models.list" });
    stage.read();
    await stage.until((line) => line["cursor"] === String(total));
    expect(stage.eventsOf("s").map(({ cursor }) => Number(cursor))).toEqual(
      Array.from({ length: total }, (_, i) => i + 1),
    );
    await stage.until(({ id }) => id === 499);
  });

  test("streams that the API disconnected because the host was slow are resumed", async () => {
    await using stage = await StdioStage.open(memory.engine, { reads: false });
    stage.send({ id: "s", method: "sessions.events.stream", params: { session_id: session } });
    await expect.poll(() => memory.listeners).toBe(1);
    const total = 3_000;
    for (let i = 0; i < total; i += 1) {
      memory.append(session, message(`${i} ${"x".repeat(4_000)}`));
      if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    // More than four megabytes are pending, so the API disconnects the stream.
    await expect.poll(() => memory.listeners).toBe(0);
    memory.append(session, running);
    stage.read();
    await stage.until((line) => line["cursor"] === String(total + 1));
    expect(stage.eventsOf("s").map(({ cursor }) => Number(cursor))).toEqual(
      Array.from({ length: total + 1 }, (_, i) => i + 1),
    );
  });

  test("streams that break resume after the last event; without a cursor, the host is told", async () => {
    const cut: (() => void)[] = [];
    const through = (wire: Wire): Wire => ({
      async send(request) {
        const answer = await wire.send(request);
        cut.push(() => answer.destroy(new Error("cut")));
        return answer;
      },
    });
    await using stage = await StdioStage.open(memory.engine, { through });
    stage.send({ id: "s", method: "sessions.events.stream", params: { session_id: session } });
    await stage.until(({ id }) => id === "s");
    memory.append(session, running);
    await stage.until((line) => line["cursor"] === "1");
    cut.pop()!();
    for (let i = 0; i < 10; i += 1) memory.append(session, message(`${i}`));
    await stage.until((line) => line["cursor"] === "11");
    expect(stage.eventsOf("s").map(({ cursor }) => Number(cursor))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);

    stage.send({ id: "t", method: "sessions.events.stream", params: { session_id: session } });
    await stage.until(({ id }) => id === "t");
    cut.pop()!();
    expect(await stage.until((line) => line["stream"] === "t")).toMatchObject({ end: { error: { status: 503 } } });
  });
});

describe("a host that reads nothing", () => {
  /** Fills all buffers between Tandem and the host. */
  async function stuck(deadlines: { hurryMs?: number; answerMs?: number }): Promise<StdioStage> {
    memory.append(session, message("x".repeat(300_000)));
    const stage = await StdioStage.open(memory.engine, { reads: false, deadlines: { ...deadlines, flushMs: 50 } });
    stage.send({ id: 1, method: "sessions.events.list", params: { session_id: session } });
    await expect.poll(() => stage.stdout.writableNeedDrain).toBe(true);
    stage.send({ id: 2, method: "models.list" });
    await expect.poll(() => stage.stdin.readableLength).toBe(0);
    return stage;
  }

  test("a host that reads nothing and exits is not waited for, even if another process holds its pipe", async () => {
    await using stage = await stuck({ hurryMs: 50 });
    stage.stop.abort();
    await stage.served;
    expect(stage.stdout.writableNeedDrain).toBe(true);
  });

  test("a host that reads nothing and closes its end is not waited for", async () => {
    await using stage = await stuck({ answerMs: 50 });
    stage.stdin.end();
    await stage.served;
    expect(stage.stdout.writableNeedDrain).toBe(true);
  });
});
