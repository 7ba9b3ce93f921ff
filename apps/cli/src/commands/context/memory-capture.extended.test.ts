import Anthropic from "@anthropic-ai/sdk";
import { type ModelRequest, text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const WORDS = "Our weeks begin on Sundays.";
const isReader = ({ system }: ModelRequest) => system.includes("You read a session between a user and an agent");

test("a server captures memories of an archived session", async () => {
  let proposed = 0;
  await using machine = await sessionMachine((request) => {
    if (!isReader(request)) return text("I will keep that in mind.");
    const [, event] = /<user-\w+ event="(sevt_\w+)">/.exec(request.lastUserText) ?? [];
    if (event === undefined || proposed > 0) return text("That was all.");
    proposed += 1;
    const tool = request.toolNames.find((name) => name.endsWith("memory_propose"))!;
    return toolUse(tool, { text: WORDS, scope: "project", events: [event] });
  }, "  provider: { backend: claude-code }\nmemory:\n  capture: on\n");
  await using server = await machine.up();
  const client = new Anthropic({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
  const agent = await client.beta.agents.create({ name: "analyst", model: "sonnet" });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  const stream = await client.beta.sessions.events.stream(session.id);
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: "user.message", content: [{ type: "text", text: WORDS }] }],
  });
  for await (const event of stream) if (event.type === "session.status_idle") break;
  await client.beta.sessions.archive(session.id);

  const [store] = (await client.beta.memoryStores.list()).data;
  const kept = async () => (await client.beta.memoryStores.memories.list(store!.id, { view: "full" })).data;
  await expect.poll(kept, { interval: 300 }).toMatchObject([{ type: "memory", content: WORDS }]);
  const readers = machine.rehearsal.modelRequests.filter(isReader).length;
  expect(readers).toBe(2);
  const listed = await machine.run(["context", "memories", "list", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ memories: [{ text: WORDS, sources: [{ session: session.id }] }] });
  // A second capture finds nothing new.
  const again = await machine.run(["context", "memories", "capture", session.id]);
  expect(again).toMatchObject({ code: 0, stdout: "No new messages since the last capture.\n" });
  expect(machine.rehearsal.modelRequests.filter(isReader)).toHaveLength(readers);
});
