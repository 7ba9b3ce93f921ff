import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { newId, RequestError, type SessionEventBody, type SessionId } from "@tandem/protocol";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { StreamReader } from "../../testing/read-stream.ts";
import { startTestServer, type TestServer } from "../../testing/start-test-server.ts";

const text = (length: number): string => "x".repeat(length);
const message = (length: number): SessionEventBody => ({
  type: "agent.message",
  content: [{ type: "text", text: text(length) }],
});
const SETTINGS = { heartbeatMs: 50, batchMs: 10, slowBytes: 20_000, stuckBytes: 400_000, maxStreamsPerToken: 20 };

let memory: MemoryEngine;
let server: TestServer;
let session: SessionId;
beforeEach(async () => {
  memory = new MemoryEngine();
  server = await startTestServer({ engine: memory.engine, settings: SETTINGS });
  session = memory.createSession();
});
afterEach(() => server[Symbol.asyncDispose]());

const path = (query = "") => `/v1/sessions/${session}/events/stream${query}`;
const open = (query = ""): Promise<StreamReader> => StreamReader.open(server, path(query));
const expectNothingLeft = async (): Promise<void> => {
  await expect.poll(() => [memory.followers, memory.listeners]).toEqual([0, 0]);
};

/** A client that opens a stream and reads only on demand. */
async function openSlowly(query = "", header = ""): Promise<{ socket: Socket; rest(): Promise<string> }> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(
    `GET ${path(query)} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-api-key: ${server.secret}\r\n${header}\r\n`,
  );
  await once(socket, "readable");
  let seen = "";
  return {
    socket,
    async rest() {
      socket.setEncoding("utf8");
      for await (const chunk of socket) seen += chunk as string;
      return seen;
    },
  };
}

describe("a hub", () => {
  test("reads the log once for all its clients, and is removed with the last of them", async () => {
    const first = await open();
    const second = await open("?tandem=true");
    expect([memory.followers, memory.listeners]).toEqual([1, 1]);
    await first[Symbol.asyncDispose]();
    memory.append(session, message(1));
    await second.untilType("agent.message");
    expect(memory.followers).toBe(1);
    await second[Symbol.asyncDispose]();
    await expectNothingLeft();
    await using third = await open();
    memory.append(session, message(1));
    await third.until(({ id }) => id === "2");
  });

  test("continues when the clock of the machine is set back by an hour", async () => {
    await using stream = await open();
    memory.append(session, message(1));
    await stream.until(({ id }) => id === "1");
    const { now } = Date;
    using _clock = vi.spyOn(Date, "now").mockImplementation(() => now() - 3_600_000);
    memory.append(session, message(1));
    expect(await stream.until(({ id }) => id === "2")).toBeDefined();
  });

  test("leaves nothing behind if a stream could not be opened", async () => {
    memory.failure = new RequestError("unavailable", "The database cannot be reached.");
    expect((await server.request(path())).status).toBe(503);
    memory.failure = undefined;
    expect((await server.request("/v1/sessions/sesn_nothing/events/stream")).status).toBe(404);
    await expectNothingLeft();
  });

  test("survives a database outage without gap or duplicate", async () => {
    await using stream = await open();
    memory.append(session, message(1));
    await stream.until(({ id }) => id === "1");
    memory.failure = new RequestError("unavailable", "The database cannot be reached.");
    memory.wakeAll();
    await expect.poll(() => memory.followers).toBe(0);
    memory.failure = undefined;
    memory.append(session, message(2));
    memory.append(session, message(3));
    await stream.until(({ id }) => id === "3");
    expect(stream.events.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  });

  test("that lags behind does not repeat events that a client has already", async () => {
    await using first = await open();
    memory.failure = new RequestError("unavailable", "The database cannot be reached.");
    memory.wakeAll();
    await expect.poll(() => memory.followers).toBe(0);
    memory.failure = undefined;
    for (let i = 0; i < 3; i++) memory.append(session, message(1));
    await using second = await StreamReader.open(server, path(), { "last-event-id": "2" });
    await first.until(({ id }) => id === "3");
    await second.until(({ id }) => id === "3");
    memory.append(session, message(1));
    await second.until(({ id }) => id === "4");
    expect(first.events.slice(0, 3).map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(second.events.map(({ id }) => id)).toEqual(["3", "4"]);
  });

  test("reports that the session was deleted, and ends", async () => {
    await using stream = await open();
    const response = await server.request(`/v1/sessions/${session}`, { method: "DELETE" });
    expect(await response.json()).toEqual({ type: "session_deleted", id: session });
    await stream.ended();
    expect(stream.types).toEqual(["session.deleted"]);
  });

  test("sends items that arrive together in one write", async () => {
    await using stream = await open();
    const before = performance.now();
    for (let i = 0; i < 2_000; i++) memory.append(session, message(1));
    await stream.until(({ id }) => id === "2000");
    expect(performance.now() - before).toBeLessThan(3_000 * inject("slowness"));
    expect(stream.events).toHaveLength(2_000);
  });
});

describe("streams", () => {
  test("have a heartbeat that no client takes for an event", async () => {
    await using stream = await open();
    await stream.until(({ comment }) => comment === "heartbeat");
    expect(stream.events).toEqual([]);
  });

  test("are notified when the server stops, and end", async () => {
    await using stream = await open();
    await using feed = await StreamReader.open(server, "/v1/feed");
    await feed.untilType("snapshot");
    const closing = server.close(5_000);
    await Promise.all([stream.ended(), feed.ended(), closing]);
    expect(stream.frames.at(-1)).toEqual({ comment: "the server is stopping" });
    await expectNothingLeft();
  });

  test("end when their token is revoked", async () => {
    await using stream = await open();
    const [token] = await server.tokens.list();
    await server.tokens.delete(token!.id);
    await stream.ended();
    expect(stream.frames.at(-1)?.comment).toContain("token");
  });

  test("are limited per token", async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => open()));
    const refused = await server.request(path());
    expect(refused.status).toBe(429);
    await streams[0]![Symbol.asyncDispose]();
    await expect
      .poll(async () => {
        await using one = await open();
        return one.response.status;
      })
      .toBe(200);
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
  });

  test("are not opened by HEAD", async () => {
    const response = await server.request(path(), { method: "HEAD" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).not.toContain("HEAD");
    expect(response.headers.get("allow")).toContain("GET");
  });
});

test("a backlog is read from the log only as fast as its client reads", async () => {
  const idle = session;
  const other = memory.createSession();
  const large = message(150_000);
  for (const each of [idle, other]) for (let i = 0; i < 200; i += 1) memory.append(each, large);
  const from = { "last-event-id": "0" };
  const { socket } = await openSlowly("", "last-event-id: 0\r\n");
  // Wait until another client has received as much.
  await using quick = await StreamReader.open(server, `/v1/sessions/${other}/events/stream`, from);
  await quick.until(({ id }) => id === "200");
  expect(memory.read(idle)).toBeLessThan(150);
  socket.destroy();
});

describe("a slow client", () => {
  const id = newId("event");
  const preview = (): Promise<void> =>
    memory.preview(session, {
      thread: null,
      delta: {
        type: "event_delta",
        event_id: id,
        delta: { type: "content_delta", content: { type: "text", text: "x" } },
      },
    });
  const isLetGo = () => server.log.some(({ msg }) => msg === "disconnected a client that did not keep up");

  test("loses previews first, then is told where to resume and disconnected; others are not delayed", async () => {
    const slow = await openSlowly("?event_deltas[]=agent.message&tandem=true");
    await using quick = await open("?event_deltas[]=agent.message");
    await memory.preview(session, {
      thread: null,
      delta: { type: "event_start", event: { type: "agent.message", id } },
    });
    // Both sockets buffer some megabytes before backpressure shows.
    let sent = 0;
    while (!isLetGo()) {
      sent = memory.append(session, message(100_000)).seq;
      if (sent % 2 === 0) await preview();
      await quick.until((frame) => frame.id === String(sent));
    }
    const previews = quick.types.filter((type) => type === "event_delta").length;
    const rest = await slow.rest();
    const ids = [...rest.matchAll(/^id: (\d+)$/gm)].map(([, one]) => Number(one));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(ids.length).toBeLessThan(sent);
    expect(rest.match(/event_delta/g)?.length ?? 0).toBeLessThan(previews);
    const resync = /event: tandem\.resync\ndata: (.*)\n/.exec(rest)?.[1];
    expect(JSON.parse(resync!)).toEqual({ type: "tandem.resync", last_event_id: String(ids.at(-1)) });
    await using again = await StreamReader.open(server, path(), { "last-event-id": String(ids.at(-1)) });
    await again.until((frame) => frame.id === String(sent));
    expect(again.events).toHaveLength(sent - ids.length);
  });
});
