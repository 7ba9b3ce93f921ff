import { once } from "node:events";
import { connect } from "node:net";
import { expect, inject, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { StreamReader } from "../testing/read-stream.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

/** Everything that the server sends in response to these bytes, until it closes the connection. */
async function say(server: TestServer, bytes: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(bytes);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk as string;
  return answer;
}

test("an idle connection is closed, a quiet stream is not", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  memory.models = async () => [{ id: "large", name: "x".repeat(30_000_000), aliases: [] }];
  // Longer than the large answer occupies a busy machine, and shorter than the other limits.
  const silenceTimeoutMs = 3_000 * inject("slowness");
  const [headersTimeoutMs, requestTimeoutMs] = [2 * silenceTimeoutMs, 2 * silenceTimeoutMs];
  await using server = await startTestServer({
    engine: memory.engine,
    settings: { silenceTimeoutMs, headersTimeoutMs, requestTimeoutMs, heartbeatMs: 50 },
  });
  await using stream = await StreamReader.open(server, `/v1/sessions/${session}/events/stream`);
  expect(await say(server, "")).toBe("");
  const stalled = connect(server.port, "127.0.0.1");
  stalled.write(`GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.secret}\r\n\r\n`);
  await once(stalled, "readable");
  const isCut = () => server.log.some(({ path, aborted }) => path === "/v1/models" && aborted);
  await expect.poll(isCut).toBe(true);
  stalled.destroy();
  memory.append(session, { type: "session.status_running" });
  await stream.untilType("session.status_running");
});

test("input that never becomes a request is logged with its address", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const head = `host: localhost\r\nx-api-key: ${server.secret}\r\nconnection: close`;
  expect(await say(server, "nonsense\r\n\r\n")).toContain("400 Bad Request");
  expect(await say(server, `CONNECT example.org:443 HTTP/1.1\r\n${head}\r\n\r\n`)).toContain("405 Method Not Allowed");
  expect(await say(server, `GET /v1/agents HTTP/1.1\r\n${head}\r\nexpect: a-miracle\r\n\r\n`)).toContain("200 OK");
  await expect.poll(() => server.log.length).toBe(3);
  expect(server.log).toMatchObject([
    { msg: "no request", status: 400, remote: "127.0.0.1" },
    { msg: "no request", status: 405, reason: "CONNECT", remote: "127.0.0.1" },
    { msg: "request", status: 200, path: "/v1/agents", remote: "127.0.0.1" },
  ]);
});

test("a refused body is read to a limit, so that the client receives the response", async () => {
  await using server = await startTestServer({
    engine: new MemoryEngine().engine,
    // Longer than a busy machine takes to send and read the whole body.
    settings: { headersTimeoutMs: 500 * inject("slowness"), requestTimeoutMs: 4_000 * inject("slowness") },
  });
  const megabyte = Buffer.alloc(1024 * 1024, "x");
  const begin = () => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    const head = ["POST /v1/files HTTP/1.1", "host: localhost", "content-type: multipart/form-data; boundary=x"];
    socket.write([...head, `content-length: ${100 * megabyte.length}`, "", ""].join("\r\n"));
    return socket;
  };
  const whole = begin();
  for (let sent = 0; sent < 100; sent += 1) if (!whole.write(megabyte)) await once(whole, "drain");
  const [answer] = (await once(whole, "data")) as [Buffer];
  expect(answer.toString()).toContain("401 Unauthorized");
  whole.destroy();
  await once(begin().resume(), "close");
});
