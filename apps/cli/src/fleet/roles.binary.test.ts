import Anthropic from "@anthropic-ai/sdk";
import { always, text } from "@tandem/rehearsal";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunningUp } from "../testing/session-machine.ts";
import { scratchMachine } from "../testing/run-tandem.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

let machine: Awaited<ReturnType<typeof fleetMachine>>;
beforeAll(async () => {
  machine = await fleetMachine();
});
afterAll(() => machine?.[Symbol.asyncDispose]());
beforeEach(() => machine.reset([always(text("Yes."))]));

const clientOf = ({ url, token }: RunningUp) => new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 });

async function begin(client: Anthropic) {
  const agent = await client.beta.agents.create({ name: "tester", model: "claude-sonnet-5-5" });
  return client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
}

test("a worker answers a message sent to a server, and the server streams it", async () => {
  const worker = await machine.up("--as", "worker", "--machine", "alpha");
  const server = await machine.up("--as", "server");
  const session = await begin(clientOf(worker));
  const client = clientOf(server);
  const stream = await client.beta.sessions.events.stream(session.id);
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: "user.message", content: [{ type: "text", text: "Are you there?" }] }],
  });
  const said: string[] = [];
  for await (const event of stream) {
    if (event.type === "agent.message")
      said.push(...event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
    if (event.type === "session.status_idle") break;
  }
  expect(said).toEqual(["Yes."]);
});

test.each([
  [["--as", "worker"], "A worker needs a database that can be shared"],
  [["--max-sessions", "3"], "What --max-sessions is about needs a database that can be shared"],
])("without Postgres, %j is refused", async (args, words) => {
  await using alone = await scratchMachine();
  const { code, stderr } = await alone.run(["up", "--port", "0", ...args]);
  expect(stderr).toContain(words);
  expect(stderr).toContain("storage.url");
  expect(code).toBe(2);
});
