import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { rawRequest } from "../testing/raw-request.ts";
import { StreamReader } from "../testing/read-stream.ts";
import { startTestServer } from "../testing/start-test-server.ts";

test("every request has a log line with its token's id and without secrets", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  await using server = await startTestServer({ engine: memory.engine });
  const stranger = `tandem_${"S".repeat(43)}`;
  await server.request("/v1/agents?limit=3&page=a-secret-cursor");
  await rawRequest(server, { path: "/v1/agents", headers: { authorization: `Bearer ${stranger}` } });
  await rawRequest(server, { path: "/healthz", headers: { host: "evil.example" } });
  await rawRequest(server, { path: `/v1/agents/${stranger}`, headers: { "x-api-key": server.secret } });
  await server.request(`/v1/sessions/${session}/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: [{ type: "user.message", content: [{ type: "text", text: "private words" }] }] }),
  });
  {
    await using stream = await StreamReader.open(server, `/v1/sessions/${session}/events/stream`);
    memory.append(session, { type: "session.status_running" });
    await stream.untilType("session.status_running");
  }
  const lines = () => server.log.filter(({ msg }) => msg === "request");
  await expect.poll(() => lines().length).toBe(6);
  const [token] = await server.tokens.list();
  const common = { request_id: expect.stringMatching(/^req_/), ms: expect.any(Number), remote: "127.0.0.1" };
  expect(lines()).toMatchObject([
    { ...common, method: "GET", path: "/v1/agents", status: 200, token: token!.id },
    { ...common, method: "GET", path: "/v1/agents", status: 401 },
    { ...common, method: "GET", path: "/healthz", status: 403 },
    { ...common, method: "GET", path: "/v1/agents/[redacted]", status: 404, token: token!.id },
    { ...common, method: "POST", path: `/v1/sessions/${session}/events`, status: 200, token: token!.id },
    { ...common, path: `/v1/sessions/${session}/events/stream`, status: 200, token: token!.id, aborted: true },
  ]);
  expect(lines()[1]).not.toHaveProperty("token");
  const log = JSON.stringify(server.log);
  for (const secret of [server.secret, stranger, "a-secret-cursor", "private words"]) expect(log).not.toContain(secret);
});

test("only behind a trusted proxy the log shows the forwarded address", async () => {
  for (const trustedProxy of [true, false]) {
    await using server = await startTestServer({ engine: new MemoryEngine().engine, settings: { trustedProxy } });
    await rawRequest(server, { path: "/healthz", headers: { "x-forwarded-for": "203.0.113.7" } });
    await expect.poll(() => server.log.length).toBe(1);
    expect(server.log[0]!["forwarded_for"]).toBe(trustedProxy ? "203.0.113.7" : undefined);
  }
});
