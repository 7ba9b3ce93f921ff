import { expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { thinAcpAgents } from "../../testing/thin-acp-agent.ts";

test("no stream is opened on a connection that ended meanwhile, because nothing would close it", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { sessions } = memory.engine;
  const engine = {
    ...memory.engine,
    sessions: {
      ...sessions,
      async get(id: string) {
        asked.resolve();
        await gate.promise;
        return sessions.get(id);
      },
    },
  };
  await using server = await startTestServer({ engine, acp: thinAcpAgents(memory).connect });
  const begun = await server.request("/acp", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } }),
  });
  const own = { "acp-connection-id": begun.headers.get("acp-connection-id")! };
  const headers = { ...own, "acp-session-id": session, accept: "text/event-stream" };
  const listening = server.request("/acp", { headers });
  await asked.promise;
  expect((await server.request("/acp", { method: "DELETE", headers: own })).status).toBe(202);
  gate.resolve();
  expect((await listening).status).toBe(404);
});
