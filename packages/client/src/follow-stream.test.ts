import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createClient } from "./create-client.ts";
import { collect } from "./testing/collect.ts";
import { startApi } from "./testing/start-api.ts";

/** An event of a session's log; its cursor is its number. */
const frame = (cursor: number): string =>
  `event: message\nid: ${cursor}\ndata: ${JSON.stringify({ type: "session.status_running", id: `sevt_${cursor}`, processed_at: "" })}\n\n`;
const open = (response: ServerResponse, ...frames: string[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`: heartbeat\n\n${frames.join("")}`);
};
const STREAM = { params: { session_id: "sesn_1" }, query: { tandem: "true" } } as const;
const rest = async (): Promise<void> => undefined;

test("a stream has the parsed frames with their cursors, and ends with the connection", async () => {
  await using server = await startApi((_, response) => {
    open(response, frame(8), frame(9));
    response.end();
  });
  const api = createClient({ baseUrl: server.baseUrl });
  const signal = new AbortController().signal;
  const frames = await api.stream("sessions.events.stream", { ...STREAM, signal, lastEventId: "7" });
  const found = await collect(frames);
  expect(found.map(({ id, data }) => [id, data.type])).toEqual([
    ["8", "session.status_running"],
    ["9", "session.status_running"],
  ]);
  expect(server.requests).toMatchObject([
    { path: "/v1/sessions/sesn_1/events/stream?tandem=true", headers: { "last-event-id": "7" } },
  ]);
});

test("a follower resumes after the last whole event when the connection breaks, without gap or repeat", async () => {
  const LAST = 7;
  const breaks = [
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) => response.write('id: 5\ndata: {"cut', () => response.destroy()),
    (response: ServerResponse) => response.end(),
  ];
  await using server = await startApi(({ headers }, response) => {
    const after = Number(headers["last-event-id"] ?? 0);
    const end = breaks.shift();
    if (!end) return open(response, ...range(after + 1, LAST).map(frame));
    open(response, frame(after + 1), frame(after + 2));
    setImmediate(() => end(response));
  });
  const end = new AbortController();
  const ids: string[] = [];
  const states: string[] = [];
  let reopened = 0;
  await createClient({ baseUrl: server.baseUrl }).follow("sessions.events.stream", {
    ...STREAM,
    signal: end.signal,
    rest,
    onConnection: (state) => states.push(state),
    onReopen: () => (reopened += 1),
    onFrame: ({ id, data }) => {
      if ("id" in data) ids.push(data.id);
      if (id === String(LAST)) end.abort();
    },
  });
  expect(ids).toEqual(range(1, LAST).map((cursor) => `sevt_${cursor}`));
  expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "2", "4", "6"]);
  expect(reopened).toBe(3);
  expect(states.slice(0, 4)).toEqual(["connecting", "live", "lost", "lost"]);
});

test("a follower that begins at a cursor sends it", async () => {
  await using server = await startApi((_, response) => open(response, frame(42)));
  const end = new AbortController();
  const onFrame = () => end.abort();
  await createClient({ baseUrl: server.baseUrl }).follow("sessions.events.stream", {
    ...STREAM,
    signal: end.signal,
    from: "41",
    onFrame,
  });
  expect(server.requests[0]!.headers["last-event-id"]).toBe("41");
});

test("a follower retries while the server refuses, until `onError` throws", async () => {
  await using server = await startApi((_, response) => void response.writeHead(503).end());
  const errors: unknown[] = [];
  const following = createClient({ baseUrl: server.baseUrl }).follow("sessions.events.stream", {
    ...STREAM,
    signal: new AbortController().signal,
    rest,
    onFrame: () => undefined,
    onError: (error) => {
      if (errors.push(error) === 3) throw error;
    },
  });
  await expect(following).rejects.toMatchObject({ status: 503 });
  expect(server.requests).toHaveLength(3);
});

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
