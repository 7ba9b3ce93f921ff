import type { AnyMessage } from "@agentclientprotocol/sdk";
import { TandemError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { ClientServers } from "./client-servers.ts";
import { createAcpAgent } from "./create-acp-agent.ts";

/** An agent on an in-memory connection. */
function connect(engine: Engine, onFailure?: (error: unknown) => void) {
  const agent = createAcpAgent({
    engine,
    who: "test",
    version: "1.2.3",
    clientServers: new ClientServers(),
    begin: async () => ({ agent: "agent", environment_id: "env" }),
    ...(onFailure && { onFailure }),
  });
  const answers = new Map<unknown, PromiseWithResolvers<string>>();
  const to = (id: unknown) => answers.get(id) ?? answers.set(id, Promise.withResolvers()).get(id)!;
  let input: ReadableStreamDefaultController<AnyMessage>;
  const readable = new ReadableStream<AnyMessage>({ start: (controller) => void (input = controller) });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => to("id" in message ? message.id : undefined).resolve(JSON.stringify(message)),
  });
  agent.connect({ readable, writable });
  return {
    ask(id: number, method: string, params: object): Promise<string> {
      input.enqueue({ jsonrpc: "2.0", id, method, params });
      return to(id).promise;
    },
    [Symbol.dispose]: () => input.close(),
  };
}

/** The answer to `session/list` if the engine fails with this error. */
async function answerTo(failure: Error): Promise<{ answer: string; logged: unknown[] }> {
  const memory = new MemoryEngine();
  const engine = { ...memory.engine, sessions: { ...memory.engine.sessions, list: () => Promise.reject(failure) } };
  const logged: unknown[] = [];
  using connection = connect(engine, (error) => logged.push(error));
  await connection.ask(1, "initialize", { protocolVersion: 1 });
  const answer = await connection.ask(2, "session/list", {});
  return { answer, logged };
}

const SECRET = "postgres://tandem:hunter2@db.internal/tandem";

test("an unexpected error goes to the log and not to the client", async () => {
  const failure = new Error(`cannot reach ${SECRET}`);
  const { answer, logged } = await answerTo(failure);
  expect(logged).toEqual([failure]);
  expect(JSON.parse(answer)).toMatchObject({ id: 2, error: { code: -32_603 } });
  expect(answer).not.toMatch(/hunter2|db\.internal/);
});

test("an error's message is redacted before a client sees it", async () => {
  const { answer } = await answerTo(new TandemError("storage", `Cannot use ${SECRET}.`));
  expect(answer).toContain("Cannot use");
  expect(answer).not.toContain("hunter2");
});

test("a client that asks for version 2 is answered with version 1 and can continue", async () => {
  const memory = new MemoryEngine();
  memory.createSession();
  using connection = connect(memory.engine);
  const draft = { protocolVersion: 2, info: { name: "editor", version: "1" }, capabilities: {} };
  expect(JSON.parse(await connection.ask(1, "initialize", draft))).toMatchObject({
    id: 1,
    result: { protocolVersion: 1, agentCapabilities: { loadSession: true } },
  });
  expect(JSON.parse(await connection.ask(2, "session/list", {}))).toMatchObject({ id: 2, result: { sessions: [] } });
});
