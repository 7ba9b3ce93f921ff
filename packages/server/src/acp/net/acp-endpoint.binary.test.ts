import { afterAll, describe, expect, inject, test } from "vitest";
import { WebSocket } from "ws";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { rawRequest } from "../../testing/raw-request.ts";
import { StreamReader } from "../../testing/read-stream.ts";
import { startTestServer, type TestServer } from "../../testing/start-test-server.ts";
import { thinAcpAgents } from "../../testing/thin-acp-agent.ts";
import { defaultAcpLimits, type AcpLimits } from "../../http/acp-limits.ts";

const engine = new MemoryEngine();
const agents = thinAcpAgents(engine);
const start = (limits: Partial<AcpLimits> = {}, heartbeatMs = 15_000) =>
  startTestServer({
    engine: engine.engine,
    acp: agents.connect,
    settings: { acp: { ...defaultAcpLimits, ...limits }, heartbeatMs, maxJsonBytes: 256 * 1_024 },
  });

const server = await start();
afterAll(() => server[Symbol.asyncDispose]());

type Headers = Record<string, string>;
const post = (to: TestServer, message: unknown, headers: Headers = {}) =>
  to.request("/acp", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
const ask = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const say = (id: number, sessionId: string, text: string) =>
  ask(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] });

async function connect(to = server, headers: Headers = {}): Promise<Headers> {
  const response = await post(to, ask(0, "initialize", { protocolVersion: 1 }), headers);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ id: 0, result: { protocolVersion: 1 } });
  return { ...headers, "acp-connection-id": response.headers.get("acp-connection-id")! };
}

const listen = (to: TestServer, headers: Headers) =>
  StreamReader.open(to, "/acp", { accept: "text/event-stream", ...headers });

/** A connection with one session, and the headers for messages about it. */
async function begin(to = server): Promise<{ own: Headers; headers: Headers; session: string }> {
  const own = await connect(to);
  await using stream = await listen(to, own);
  expect((await post(to, ask(1, "session/new", { cwd: "/", mcpServers: [] }), own)).status).toBe(202);
  const { data } = await stream.until((frame) => frame.data?.["id"] === 1);
  const session = (data as { result: { sessionId: string } }).result.sessionId;
  return { own, session, headers: { ...own, "acp-session-id": session } };
}

const textOf = ({ data }: { data?: Record<string, unknown> }): string | undefined =>
  (data as { params?: { update?: { content?: { text?: string } } } }).params?.update?.content?.text;
const isAnswer =
  (id: number) =>
  ({ data }: { data?: Record<string, unknown> }): boolean =>
    data?.["id"] === id;

describe("a request", () => {
  test("is refused where the protocol requires it", async () => {
    const { own, headers, session } = await begin();
    const other = engine.createSession();
    const answers = {
      batch: await post(server, [ask(2, "session/list")], own),
      "no JSON": await post(server, "{", own),
      "no message": await post(server, { hello: "you" }, own),
      "no type": await post(server, ask(2, "session/list"), { ...own, "content-type": "text/plain" }),
      "too large": await post(server, say(2, session, "x".repeat(300_000)), headers),
      "no connection": await post(server, ask(2, "session/list")),
      "no such connection": await post(server, ask(2, "session/list"), { "acp-connection-id": "nobody" }),
      "initialized twice": await post(server, ask(2, "initialize", { protocolVersion: 1 }), own),
      "no session header": await post(server, say(2, session, "count 1"), own),
      "another session's header": await post(server, say(2, session, "count 1"), { ...own, "acp-session-id": other }),
      "a stream of no connection": await server.request("/acp", { headers: { accept: "text/event-stream" } }),
      "a stream as something else": await server.request("/acp", { headers: { ...own, accept: "text/html" } }),
      "a stream of no session": await server.request("/acp", {
        headers: { ...own, accept: "text/event-stream", "acp-session-id": "sesn_nothing" },
      }),
      "an id from nowhere": await server.request("/acp", {
        headers: { ...own, accept: "text/event-stream", "last-event-id": "999" },
      }),
      "another method": await server.request("/acp", { method: "PUT", headers: own }),
    };
    const statuses = Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]));
    expect(statuses).toEqual({
      batch: 501,
      "no JSON": 400,
      "no message": 400,
      "no type": 415,
      "too large": 413,
      "no connection": 400,
      "no such connection": 404,
      "initialized twice": 400,
      "no session header": 400,
      "another session's header": 400,
      "a stream of no connection": 400,
      "a stream as something else": 406,
      "a stream of no session": 404,
      "an id from nowhere": 400,
      "another method": 405,
    });
  });

  test("may name its connection by the alias header", async () => {
    const { "acp-connection-id": id } = await connect();
    const alias = { "x-acp-connection-id": id! };
    await using stream = await listen(server, alias);
    expect((await post(server, ask(7, "session/new", { cwd: "/", mcpServers: [] }), alias)).status).toBe(202);
    await stream.until(isAnswer(7));
    expect((await server.request("/acp", { method: "DELETE", headers: alias })).status).toBe(202);
  });

  test("a request that is repeated while in progress runs once", async () => {
    const { headers } = await begin();
    await using stream = await listen(server, headers);
    const session = headers["acp-session-id"]!;
    for (let time = 0; time < 3; time += 1)
      expect((await post(server, say(5, session, "ask"), headers)).status).toBe(202);
    const { data } = await stream.until((frame) => frame.data?.["method"] === "session/request_permission");
    const answer = { jsonrpc: "2.0", id: data!["id"], result: { outcome: { outcome: "selected", optionId: "yes" } } };
    expect((await post(server, answer, { ...headers, "acp-session-id": "other" })).status).toBe(400);
    expect((await post(server, answer, headers)).status).toBe(202);
    await stream.until(isAnswer(5));
    expect(stream.events.map(textOf).filter((text) => text !== undefined)).toEqual(["yes"]);
  });
});

describe("a connection", () => {
  test("belongs to its token: other tokens get 404, and a token without `run` gets nothing", async () => {
    const { own } = await begin();
    const others = { ...own, authorization: `Bearer ${await server.secretFor("admin")}` };
    for (const [method, body] of [["POST", ask(9, "session/list")], ["GET"], ["DELETE"]] as const) {
      const init = { method, headers: { ...others, accept: "text/event-stream", "content-type": "application/json" } };
      const response = await server.request("/acp", { ...init, ...(body && { body: JSON.stringify(body) }) });
      expect(response.status).toBe(404);
    }
    const reader = { ...own, authorization: `Bearer ${await server.secretFor("read")}` };
    expect((await post(server, ask(0, "initialize", { protocolVersion: 1 }), reader)).status).toBe(403);
    await using stream = await listen(server, own);
    expect(stream.response.status).toBe(200);
  });

  test("is closed by DELETE, after its agent has closed", async () => {
    const own = await connect();
    await using stream = await listen(server, own);
    const before = agents.over;
    const letGo = Promise.withResolvers<void>();
    agents.letGo = () => letGo.promise;
    let isDone = false;
    const deleting = server.request("/acp", { method: "DELETE", headers: own }).finally(() => (isDone = true));
    // Other requests are answered meanwhile and get 404.
    await expect.poll(async () => (await post(server, ask(3, "session/list"), own)).status).toBe(404);
    expect(isDone).toBe(false);
    letGo.resolve();
    expect((await deleting).status).toBe(202);
    agents.letGo = async () => undefined;
    expect(agents.over).toBe(before + 1);
    await stream.ended();
  });

  test("ends when its token is revoked", async () => {
    // A WebSocket whose pong comes after the next heartbeat would be closed for that reason instead.
    await using own = await start({}, 1_000 * inject("slowness"));
    const secret = await own.secretFor("run");
    const headers = await connect(own, { authorization: `Bearer ${secret}` });
    await using stream = await listen(own, headers);
    const socket = new WebSocket(`${own.url.replace("http", "ws")}/acp`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const code = new Promise((resolve) => socket.once("close", resolve));
    await new Promise((resolve) => socket.once("open", resolve));
    await own.tokens.delete((await own.tokens.list()).at(-1)!.id);
    await stream.ended();
    expect(await code).toBe(1001);
  });

  test("is closed when idle, unless it has a listener", async () => {
    await using own = await start({ idleMs: 2_000 * inject("slowness") }, 50);
    const used = await connect(own);
    await using stream = await listen(own, used);
    const over = agents.over;
    const left = await connect(own);
    await expect.poll(() => agents.over).toBe(over + 1);
    expect((await post(own, ask(3, "session/list"), left)).status).toBe(404);
    expect((await post(own, ask(3, "session/list"), used)).status).toBe(202);
    await stream.until(isAnswer(3));
  });

  test("evicts an idle connection when the limit is reached, and no other", async () => {
    await using own = await start({ maxConnectionsPerToken: 2 });
    const [first, second] = [await connect(own), await connect(own)];
    await using one = await listen(own, first);
    const third = await connect(own);
    expect((await post(own, ask(3, "session/list"), second)).status).toBe(404);
    await using three = await listen(own, third);
    expect((await post(own, ask(0, "initialize", { protocolVersion: 1 }))).status).toBe(429);
    const others = { authorization: `Bearer ${await own.secretFor("run")}` };
    await connect(own, others);
    expect([one.response.status, three.response.status]).toEqual([200, 200]);
  });

  test("refuses requests if its client does not read, and is closed in the end", async () => {
    await using own = await start({ waitingBytes: 64 * 1_024, stallMs: 2_000 * inject("slowness") });
    const { headers, session } = await begin(own);
    expect((await post(own, say(2, session, "long"), headers)).status).toBe(202);
    await expect.poll(async () => (await post(own, say(3, session, "count 1"), headers)).status).toBe(429);
    await expect.poll(async () => (await post(own, say(3, session, "count 1"), headers)).status).toBe(404);
  });
});

describe("a stream that was disconnected", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));
  const idOf = (frame: { id?: string } | undefined): number => Number(frame?.id);

  test("resumes after the last id without loss or duplicates, wherever it was cut", async () => {
    const { headers, session } = await begin();
    const seen: { id?: string; text: string }[] = [];
    const take = (frames: StreamReader["events"]): void => {
      for (const frame of frames) {
        const text = textOf(frame);
        if (text !== undefined) seen.push({ ...(frame.id !== undefined && { id: frame.id }), text });
      }
    };
    const first = await listen(server, headers);
    await post(server, say(2, session, "count 300"), headers);
    await first.until((frame) => textOf(frame) === "20");
    await first[Symbol.asyncDispose]();
    // The events that arrived before the cut; the server may have written more.
    take(first.events.slice(0, 20));
    for (let cut = 0; cut < 5; cut += 1) {
      const last = { "last-event-id": seen.at(-1)!.id! };
      await using again = await listen(server, { ...headers, ...last });
      await again.until((frame) => textOf(frame) === String(seen.length + 30));
      take(again.events.slice(0, 30));
    }
    await using rest = await listen(server, { ...headers, "last-event-id": seen.at(-1)!.id! });
    await rest.until(isAnswer(2));
    take(rest.events);
    expect(seen.map(({ text }) => text)).toEqual(numbers(300));
    const ids = seen.map(idOf);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(300);
  });

  test("reports a gap that it cannot replay", async () => {
    await using own = await start({ replayBytes: 4_096 });
    const { headers, session } = await begin(own);
    const first = await listen(own, headers);
    await post(own, say(2, session, "count 100"), headers);
    await first.until(isAnswer(2));
    await first[Symbol.asyncDispose]();
    const [begun] = first.events;
    await using again = await listen(own, { ...headers, "last-event-id": begun!.id! });
    await again.until(isAnswer(2));
    const [gap, next] = again.events;
    expect(gap).toMatchObject({ event: "gap", data: { method: "_tandem/gap", params: { after: begun!.id } } });
    const { lost_until } = (gap!.data as { params: { lost_until: string } }).params;
    expect(idOf(next)).toBe(Number(lost_until) + 1);
    expect(again.events.slice(1).map(textOf).filter(Boolean)).toEqual(numbers(100).slice(-(again.events.length - 2)));
    // Without an id the stream continues after the last written event: no gap and no duplicate.
    await using fresh = await listen(own, headers);
    await post(own, say(3, session, "count 1"), headers);
    await fresh.until(isAnswer(3));
    expect(fresh.events.map(textOf)).toEqual(["1", undefined]);
  });

  test("belongs to its newest listener; the previous one is closed", async () => {
    const { headers, session } = await begin();
    await using dead = await listen(server, headers);
    await using alive = await listen(server, headers);
    await dead.ended();
    await post(server, say(2, session, "count 3"), headers);
    await alive.until(isAnswer(2));
    expect(dead.events).toEqual([]);
    expect(alive.events.map(textOf)).toEqual(["1", "2", "3", undefined]);
  });

  test("sends a heartbeat", async () => {
    await using own = await start({}, 50);
    await using stream = await listen(own, await connect(own));
    expect(await stream.until(({ comment }) => comment !== undefined)).toEqual({ comment: "heartbeat" });
  });
});

describe("a WebSocket", () => {
  const upgrade = (headers: Headers, path = "/acp") =>
    rawRequest(server, {
      path,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
        ...headers,
      },
    });

  test("passes the same checks as every request", async () => {
    const authorization = `Bearer ${server.secret}`;
    const page = { cookie: `tandem_page=${server.secret}` };
    const answers = {
      "no token": await upgrade({}),
      "a token in the query": await upgrade({}, `/acp?token=${server.secret}`),
      "a wrong token": await upgrade({ authorization: "Bearer tandem_guess" }),
      "a token that may only read": await upgrade({ authorization: `Bearer ${await server.secretFor("read")}` }),
      "a name that points here": await upgrade({ authorization, host: "evil.example" }),
      "a page of a stranger": await upgrade({ authorization, origin: "https://evil.example" }),
      "a page on another port": await upgrade({ authorization, origin: "http://127.0.0.1:1" }),
      "a stranger's page, by the cookie": await upgrade({ ...page, origin: "https://evil.example" }),
      "a cookie": await upgrade(page),
      "a cookie with a forged origin": await upgrade({ ...page, origin: server.url }),
      "another address": await upgrade({ authorization }, "/v1/agents"),
    };
    const statuses = Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]));
    expect(statuses).toEqual({
      "no token": 401,
      "a token in the query": 401,
      "a wrong token": 401,
      "a token that may only read": 403,
      "a name that points here": 403,
      "a page of a stranger": 403,
      "a page on another port": 403,
      "a stranger's page, by the cookie": 403,
      "a cookie": 401,
      "a cookie with a forged origin": 401,
      "another address": 200,
    });
    expect(answers["no token"].headers["request-id"]).toMatch(/^req_/);
    const logged = server.log.filter(({ path, status }) => path === "/acp" && (status === 401 || status === 403));
    expect(logged.length).toBeGreaterThanOrEqual(9);
  });

  test("answers an invalid message and continues", async () => {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/acp`, {
      headers: { authorization: `Bearer ${server.secret}` },
    });
    const answers: unknown[] = [];
    socket.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString())));
    const id = new Promise((resolve) => socket.once("upgrade", ({ headers }) => resolve(headers["acp-connection-id"])));
    await new Promise((resolve) => socket.once("open", resolve));
    expect(await id).toMatch(/^[\da-f-]{36}$/);
    socket.send("{");
    socket.send("[]");
    socket.send(Buffer.from("binary"));
    socket.send("[".repeat(100_000));
    socket.send(JSON.stringify(ask(1, "initialize", { protocolVersion: 1 })));
    await expect.poll(() => answers.length).toBe(4);
    expect(answers).toMatchObject([
      { id: null, error: { code: -32_700 } },
      { id: null, error: { code: -32_600 } },
      { id: null, error: { code: -32_700 } },
      { id: 1, result: { protocolVersion: 1 } },
    ]);
    const over = agents.over;
    const code = new Promise((resolve) => socket.once("close", resolve));
    socket.send("x".repeat(300_000));
    expect(await code).toBe(1009);
    await expect.poll(() => agents.over).toBe(over + 1);
  });

  test("a WebSocket that misses its heartbeat is closed together with its agent", async () => {
    await using own = await start({}, 100);
    const socket = new WebSocket(`${own.url.replace("http", "ws")}/acp`, {
      headers: { authorization: `Bearer ${own.secret}` },
      autoPong: false,
    });
    const over = agents.over;
    await new Promise((resolve) => socket.once("close", resolve));
    await expect.poll(() => agents.over).toBe(over + 1);
  });
});
