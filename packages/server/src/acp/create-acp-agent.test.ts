import type { AnyMessage } from "@agentclientprotocol/sdk";
import { TandemError } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { ClientServers } from "./client-servers.ts";
import { createAcpAgent } from "./create-acp-agent.ts";

const clientInfo = { info: { name: "editor", version: "1" }, capabilities: {} };

/** What an agent answers to a list of sessions, where its engine fails in this way. */
async function answerTo(failure: Error, version: 1 | 2): Promise<{ answer: string; logged: unknown[] }> {
  const memory = new MemoryEngine();
  const engine = { ...memory.engine, sessions: { ...memory.engine.sessions, list: () => Promise.reject(failure) } };
  const logged: unknown[] = [];
  const agent = createAcpAgent({
    ...{ engine, who: "test", version: "1.2.3", v2: version === 2, clientServers: new ClientServers() },
    begin: async () => ({ agent: "agent", environment_id: "env" }),
    onFailure: (error) => logged.push(error),
  });
  const answers = new Map<unknown, PromiseWithResolvers<string>>();
  const to = (id: unknown) => answers.get(id) ?? answers.set(id, Promise.withResolvers()).get(id)!;
  let input: ReadableStreamDefaultController<AnyMessage>;
  const readable = new ReadableStream<AnyMessage>({ start: (controller) => void (input = controller) });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => to("id" in message ? message.id : undefined).resolve(JSON.stringify(message)),
  });
  agent.connect({ readable, writable });
  const ask = (id: number, method: string, params: object): Promise<string> => {
    input.enqueue({ jsonrpc: "2.0", id, method, params });
    return to(id).promise;
  };
  await ask(1, "initialize", { protocolVersion: version, ...(version === 2 && clientInfo) });
  const answer = await ask(2, "session/list", {});
  input!.close();
  return { answer, logged };
}

const SECRET = "postgres://tandem:hunter2@db.internal/tandem";

test.each([1, 2] as const)(
  "what nobody has foreseen is for the log, and not for the client (version %i)",
  async (v) => {
    const failure = new Error(`cannot reach ${SECRET}`);
    const { answer, logged } = await answerTo(failure, v);
    expect(logged).toEqual([failure]);
    expect(JSON.parse(answer)).toMatchObject({ id: 2, error: { code: -32_603 } });
    expect(answer).not.toMatch(/hunter2|db\.internal/);
  },
);

test.each([1, 2] as const)("what looks like a credential is not in what a client is told (version %i)", async (v) => {
  const { answer } = await answerTo(new TandemError("storage", `Cannot use ${SECRET}.`), v);
  expect(answer).toContain("Cannot use");
  expect(answer).not.toContain("hunter2");
});
