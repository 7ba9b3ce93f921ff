import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";

const fixture = (name: string): string => readFileSync(join(import.meta.dirname, "__fixtures__", name), "utf8");
const tls = { cert: fixture("localhost.pem"), key: fixture("localhost-key.pem") };
const start = (settings: Parameters<typeof startTestServer>[0]["settings"]) =>
  startTestServer({ engine: new MemoryEngine().engine, settings });

describe("the listening address", () => {
  test.each(["0.0.0.0", "::", "192.168.1.1", "example.org"])("%s is refused unless allowed", async (host) => {
    await expect(start({ host })).rejects.toMatchObject({
      code: "bind_refused",
      fix: expect.stringContaining("127.0.0.1"),
    });
    await expect(start({ host, tls })).rejects.toMatchObject({ code: "bind_refused" });
  });

  test("a remote address needs TLS or a trusted proxy as well", async () => {
    await expect(start({ host: "0.0.0.0", allowRemote: true })).rejects.toMatchObject({
      code: "bind_refused",
      fix: expect.stringContaining("TLS"),
    });
    await using proxied = await start({ host: "0.0.0.0", allowRemote: true, trustedProxy: true });
    expect((await fetch(`http://127.0.0.1:${proxied.port}/healthz`)).status).toBe(204);
  });

  test("serves TLS with a certificate", async () => {
    await using server = await start({ tls });
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    const request = get(`${server.url}/healthz`, { ca: tls.cert, agent: false });
    const [answer] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(204);
  });

  test("reports a port that is in use", async () => {
    await using first = await start({});
    await expect(start({ port: first.port })).rejects.toMatchObject({ code: "port_in_use" });
  });
});

describe("stopping", () => {
  const message = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: [{ type: "user.interrupt" }] }),
  };

  test("drain refuses new work and is not ready, but still answers", async () => {
    const memory = new MemoryEngine();
    const session = memory.createSession();
    await using server = await startTestServer({ engine: memory.engine });
    server.drain();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(204);
    expect((await server.request(`/v1/sessions/${session}/events`, message)).status).toBe(503);
    expect((await server.request(`/v1/sessions/${session}`)).status).toBe(200);
  });

  test("a process that has not joined its fleet yet is not ready", async () => {
    let isStarting = true;
    await using server = await startTestServer({ engine: new MemoryEngine().engine, isStarting: () => isStarting });
    const answer = await fetch(`${server.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { reason: "starting" }]);
    isStarting = false;
    expect((await fetch(`${server.url}/readyz`)).status).toBe(204);
  });

  test("close lets requests in progress finish and accepts no others", async () => {
    const memory = new MemoryEngine();
    const session = memory.createSession();
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    memory.beforeSend = () => {
      begun.resolve();
      return gate.promise;
    };
    await using server = await startTestServer({ engine: memory.engine });
    const sending = server.request(`/v1/sessions/${session}/events`, message);
    await begun.promise;
    const closing = server.close(5_000);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow("fetch failed");
    gate.resolve();
    expect((await sending).status).toBe(200);
    await closing;
  });

  test("close aborts requests at the deadline", async () => {
    const memory = new MemoryEngine();
    const session = memory.createSession();
    memory.beforeSend = () => new Promise(() => undefined);
    await using server = await startTestServer({ engine: memory.engine });
    const sending = server.request(`/v1/sessions/${session}/events`, message);
    const broken = expect(sending).rejects.toThrow("fetch failed");
    const idle = connect(server.port, "127.0.0.1");
    await once(idle, "connect");
    await expect.poll(() => server.close(100)).toBeUndefined();
    await broken;
    idle.destroy();
  });
});
