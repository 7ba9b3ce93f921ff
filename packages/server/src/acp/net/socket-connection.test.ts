import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createToken } from "../../http/access/create-token.ts";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { thinAcpAgents } from "../../testing/thin-acp-agent.ts";
import { defaultAcpLimits } from "../../http/acp-limits.ts";

const memory = new MemoryEngine();

async function open(url: string, secret: string): Promise<{ socket: WebSocket; answers: { id?: unknown }[] }> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/acp`, { headers: { authorization: `Bearer ${secret}` } });
  const answers: { id?: unknown }[] = [];
  socket.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString()) as { id?: unknown }));
  await once(socket, "open");
  return { socket, answers };
}
const ask = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const prompt = (id: number, sessionId: string, text: string): string =>
  ask(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] });

test("a revoked token can do nothing more, even over an open socket", async () => {
  // Long enough that no heartbeat closes the socket first.
  const settings = { heartbeatMs: 600_000, acp: { ...defaultAcpLimits, tokenMs: 0 } };
  const { connect } = thinAcpAgents(memory);
  await using server = await startTestServer({ engine: memory.engine, acp: connect, settings });
  const { secret, token } = await createToken(server.tokens, { name: "laptop", scopes: ["run"] });
  const { socket, answers } = await open(server.url, secret);
  const session = memory.createSession();
  socket.send(prompt(1, session, "count 1"));
  await expect.poll(() => answers.find(({ id }) => id === 1)).toBeDefined();
  const before = answers.length;
  await server.tokens.delete(token.id);
  const closed = once(socket, "close");
  socket.send(prompt(2, session, "count 1"));
  expect((await closed)[0]).toBe(1008);
  expect(answers.length).toBe(before);
});

test("a request that is repeated while in progress runs once, so that their number stays bounded", async () => {
  const { connect } = thinAcpAgents(memory);
  await using server = await startTestServer({ engine: memory.engine, acp: connect });
  const { socket, answers } = await open(server.url, server.secret);
  const session = memory.createSession();
  socket.send(ask(0, "initialize", { protocolVersion: 1 }));
  await expect.poll(() => answers.length).toBe(1);
  for (let i = 0; i < 3; i += 1) socket.send(prompt(1, session, "ask"));
  socket.send(prompt(2, session, "count 1"));
  const asked = () =>
    answers.filter((answer) => "method" in answer && answer.method === "session/request_permission").length;
  await expect.poll(asked).toBeGreaterThan(0);
  await expect.poll(() => answers.find(({ id }) => id === 2)).toBeDefined();
  expect(asked()).toBe(1);
  socket.terminate();
});
