import { scratchStore } from "@tandem/storage/testing/scratch-store";
import Anthropic from "@anthropic-ai/sdk";
import { RequestError, type SessionId } from "@tandem/protocol";
import { MovableClock } from "@tandem/sessions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startLossyProxy } from "../../testing/lossy-proxy.ts";
import { startTestServer, type TestServer } from "../../testing/start-test-server.ts";
import { repeatWindowMs } from "./repeat-window.ts";

let memory: MemoryEngine;
let server: TestServer;
let session: SessionId;
const store = await scratchStore();
const clock = new MovableClock();
const startServer = () =>
  startTestServer({ engine: memory.engine, tokens: store.tokens, records: store.records, clock });
beforeEach(async () => {
  memory = new MemoryEngine();
  server = await startServer();
  session = memory.createSession();
});
afterEach(() => server[Symbol.asyncDispose]());

const hello = { type: "user.message" as const, content: [{ type: "text" as const, text: "Hello" }] };

/** Sends as the official clients do, at any server with the same token. */
async function send(tryNumber: number, events: object[] = [hello], at = server): Promise<string[]> {
  const response = await at.request(`/v1/sessions/${session}/events`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${server.secret}`,
      "x-stainless-retry-count": String(tryNumber),
      "x-stainless-timeout": "600",
    },
    body: JSON.stringify({ events }),
  });
  if (response.status !== 200) throw new Error(`${response.status}`);
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

async function stored(): Promise<number> {
  const { events, waiting } = await memory.engine.sessions.events(session, { limit: 100 });
  return events.length + waiting.length;
}

describe("a send that the client retries", () => {
  test("is stored once, with the same response: the official client over a broken connection", async () => {
    await using proxy = await startLossyProxy(server, 2);
    const client = new Anthropic({ apiKey: server.secret, baseURL: proxy.url, maxRetries: 2 });
    const { data } = await client.beta.sessions.events.send(session, { events: [hello] });
    expect(await stored()).toBe(1);
    const { waiting } = await memory.engine.sessions.events(session, { limit: 10 });
    expect(data).toEqual(waiting);
  });

  test("is found in the input queue and in the log", async () => {
    const [id] = await send(0);
    expect(await send(1)).toEqual([id]);
    memory.takeAll(session);
    memory.append(session, { type: "session.status_running" });
    expect(await send(2)).toEqual([id]);
    expect(await stored()).toBe(2);
  });

  test("is stored if the first try never arrived", async () => {
    expect(await send(1)).toHaveLength(1);
    expect(await stored()).toBe(1);
  });

  test("waits for a first try that is still being stored, also at another server", async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    memory.beforeSend = () => {
      arrived.resolve();
      return gate.promise;
    };
    const first = send(0);
    await arrived.promise;
    await using other = await startServer();
    const retries = [send(1), send(2, [hello], other)];
    gate.resolve();
    for (const retry of retries) expect(await retry).toEqual(await first);
    expect(await stored()).toBe(1);
  });

  test("is found even if the first try took long, whether it succeeded or failed", async () => {
    const [arrived, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    memory.beforeSend = () => {
      arrived.resolve();
      return gate.promise;
    };
    const first = send(0);
    await arrived.promise;
    clock.advance(60_000);
    const second = send(1);
    gate.resolve();
    expect(await second).toEqual(await first);

    // Stored, but the database failed before it could confirm.
    memory.afterSend = async () => {
      clock.advance(60_000);
      throw new RequestError("unavailable", "The database cannot be used.");
    };
    const another = { ...hello, content: [{ type: "text", text: "Another" }] };
    await expect(send(0, [another])).rejects.toThrow("503");
    memory.afterSend = async () => undefined;
    await send(1, [another]);
    expect(await stored()).toBe(2);
  });

  test("is found after a restart, and with an `Idempotency-Key`", async () => {
    const [id] = await send(0);
    await using restarted = await startServer();
    expect(await send(1, [hello], restarted)).toEqual([id]);
    const keyed = () =>
      restarted.request(`/v1/sessions/${session}/events`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "one" },
        body: JSON.stringify({ events: [hello] }),
      });
    expect(await (await keyed()).json()).toEqual(await (await keyed()).json());
    expect(await stored()).toBe(2);
  });

  test("leaves no copy of its text in the journal: a deleted session is gone", async () => {
    await send(0, [{ ...hello, content: [{ type: "text", text: "between us" }] }]);
    const records = await store.records.list("requests", "request", { limit: 1_000 });
    expect(records.length).toBeGreaterThan(0);
    expect(JSON.stringify(records)).not.toContain("between us");
  });

  test("matches only if every event of it is stored", async () => {
    const other = { ...hello, content: [{ type: "text", text: "Another" }] };
    const [id] = await send(0);
    expect(await send(1, [hello, hello])).not.toContain(id);
    const both = await send(0, [hello, other]);
    expect(await send(2, [hello, other])).toEqual(both);
    expect(await stored()).toBe(5);
  });

  test("does not match an equal send from long before", async () => {
    await send(0);
    clock.advance(repeatWindowMs(1) + 1_000);
    expect(await send(1)).toHaveLength(1);
    expect(await stored()).toBe(2);
  });
});

test("equal sends on purpose are stored twice", async () => {
  const first = await send(0);
  const second = await send(0);
  expect(second).not.toEqual(first);
  expect(await stored()).toBe(2);
});

test("the window grows with the number of tries", () => {
  expect(repeatWindowMs(0)).toBe(0);
  expect(repeatWindowMs(1)).toBe(10_500);
  expect(repeatWindowMs(2)).toBe(21_500);
  expect(repeatWindowMs(10)).toBeGreaterThan(100_000);
});
