import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "./start-emulator.ts";
import { emulatedSession } from "./testing/emulated-session.ts";

// Behaviour of the sample programs of Anthropic's SDK that a fast emulator could break.

test("a stream that is opened after the message has the whole turn, once", async () => {
  await using emulator = await startEmulator({ script: [text("One."), text("Two.")] });
  const { client, id, say, log } = await emulatedSession(emulator);
  const types: string[] = [];
  for (const message of ["First.", "Second."]) {
    await say(message);
    await expect.poll(async () => (await log()).at(-1)?.type).toBe("session.status_idle");
    for await (const event of await client.beta.sessions.events.stream(id)) {
      types.push(event.type);
      if (event.type === "session.status_idle") break;
    }
  }
  expect(types.filter((type) => type === "agent.message")).toHaveLength(2);
  expect(types.filter((type) => type === "user.message")).toHaveLength(2);
});

test("a script names tools as the API does, and the client's tool runner runs a custom tool", async () => {
  await using emulator = await startEmulator({
    script: [toolUse("current_time"), toolUse("bash", { command: "pwd" }), text("It is late.")],
    tools: { Bash: () => "/project" },
  });
  const { client, id, say } = await emulatedSession(emulator, [
    { type: "agent_toolset_20260401" },
    { type: "custom", name: "current_time", description: "Now.", input_schema: { type: "object", properties: {} } },
  ]);
  await say("What is the time?");
  const calls: unknown[] = [];
  const run = async () => "23:59";
  const tool = { type: "custom" as const, name: "current_time", description: "Now.", parse: () => ({}), run };
  const runner = client.beta.sessions.events.toolRunner(id, {
    tools: [{ ...tool, input_schema: { type: "object", properties: {} } }],
    maxIdleMs: 50,
  });
  for await (const { name, posted } of runner) calls.push({ name, posted });
  expect(calls).toContainEqual({ name: "current_time", posted: true });
  const results = emulator.model.modelRequests.slice(1).map(({ toolResults }) => toolResults.at(-1)?.text);
  expect(results).toEqual(["23:59", "/project"]);
});

test("an agent may have a skill of Anthropic's service, which its sessions do without", async () => {
  await using emulator = await startEmulator({ script: [text("Done.")] });
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const agent = await client.beta.agents.create({
    name: "tables",
    model: "claude-sonnet-5-5",
    tools: [{ type: "agent_toolset_20260401" }],
    skills: [{ type: "anthropic", skill_id: "xlsx" }],
  });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  expect(session.agent.skills).toEqual([{ type: "anthropic", skill_id: "xlsx", version: "latest" }]);
});
