import Anthropic from "@anthropic-ai/sdk";
import { resultChecksum, stepsOf, type Cassette } from "@tandem/protocol";
import { reply, text, toolUse, when, type ModelRequest, type ScriptEntry } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { Emulator } from "../emulator.ts";
import { startEmulator } from "../start-emulator.ts";
import { startRecordedMcpServer } from "./recorded-mcp-server.ts";
import { replayCassette } from "./replay-cassette.ts";
import { exported } from "./testing/recorded-sessions.ts";

const TOOLSET = { type: "agent_toolset_20260401" as const };

/** Runs one turn of an agent and returns the session as a cassette. */
async function record(
  emulator: Emulator,
  agent: Omit<Anthropic.Beta.AgentCreateParams, "name" | "model">,
): Promise<Cassette> {
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const { id: agentId } = await client.beta.agents.create({ name: "lead", model: "claude-sonnet-5-5", ...agent });
  const { id } = await client.beta.sessions.create({ agent: agentId, environment_id: "env_local" });
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, {
    events: [{ type: "user.message", content: [{ type: "text", text: "Begin." }] }],
  });
  for await (const event of stream) {
    if (event.type === "session.status_idle" && event.stop_reason.type === "end_turn") break;
  }
  return await exported(emulator, id);
}

const delegate = (prompt: string, id: string) =>
  toolUse("Agent", { description: prompt, prompt, subagent_type: "reviewer", run_in_background: false }, { id });

const isAsked = (prompt: string, results: number) => (request: ModelRequest) =>
  JSON.stringify(request.messages[0]).includes(prompt) &&
  request.messages.filter(({ role }) => role === "assistant").length === results;

/** Two subagents side by side, each with a call of its own. */
const SIDE_BY_SIDE: ScriptEntry[] = [
  when(isAsked("Begin.", 0), reply([delegate("Read it.", "toolu_a"), delegate("Test it.", "toolu_b")])),
  when(isAsked("Read it.", 0), toolUse("Bash", { command: "echo read" }, { id: "toolu_c" })),
  when(isAsked("Test it.", 0), toolUse("Bash", { command: "echo tested" }, { id: "toolu_d" })),
  when(isAsked("Read it.", 1), text("It reads well.")),
  when(isAsked("Test it.", 1), text("It works.")),
  when(isAsked("Begin.", 1), text("Both agree.")),
];

async function recordSubagents(claudeCode: boolean): Promise<Cassette> {
  await using emulator = await startEmulator({
    claudeCode,
    script: SIDE_BY_SIDE,
    ...(!claudeCode && { tools: { Bash: ({ command }) => `ran ${String(command)}` } }),
  });
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const reviewer = await client.beta.agents.create({ name: "reviewer", model: "claude-haiku-5-5", tools: [TOOLSET] });
  return await record(emulator, {
    tools: [TOOLSET],
    multiagent: { type: "coordinator", agents: [{ type: "agent", id: reviewer.id, version: reviewer.version }] },
  });
}

test("a session with subagents replays identically, and a changed result of a subagent is named", async () => {
  const cassette = await recordSubagents(false);
  expect(cassette.steps.map(({ kind, thread = "-" }) => `${kind} ${thread}`)).toEqual([
    "input -",
    "model -",
    "call -",
    "call -",
    ...["toolu_a", "toolu_b"].flatMap((thread) => ["model", "call", "model"].map((kind) => `${kind} ${thread}`)),
    "model -",
    "idle -",
  ]);
  expect((await replayCassette(cassette)).divergence).toBeUndefined();
  const content = [{ type: "text", text: "ran something else" }];
  const steps = cassette.steps.map((step) =>
    step.kind === "call" && step.id === "toolu_d" && step.result
      ? { ...step, result: { ...step.result, content, crc32: resultChecksum(content) } }
      : step,
  );
  const changed = await replayCassette({ ...cassette, steps });
  expect(changed.divergence).toMatchObject({ kind: "call", step: 9 });
  // Without events to contradict, the model's next request shows it.
  const forked = await replayCassette({ ...cassette, steps, events: [] });
  expect(forked.divergence).toMatchObject({ kind: "model", step: 10 });
});

test("a session with subagents of Claude Code replays identically without a process and with real tools", async () => {
  const cassette = await recordSubagents(true);
  expect(stepsOf(cassette.events)).toEqual(cassette.steps);
  expect(new Set(cassette.steps.map(({ thread }) => thread))).toEqual(new Set([undefined, "toolu_a", "toolu_b"]));
  expect((await replayCassette(cassette)).divergence).toBeUndefined();
  expect((await replayCassette(cassette, { mode: "real_tools" })).divergence).toBeUndefined();
});

test("a session with an MCP server replays without it, and a changed result is named", async () => {
  let cassette: Cassette;
  {
    await using server = await startRecordedMcpServer({
      names: ["lookup"],
      call: async (_tool, { word }) => ({
        content: [{ type: "text", text: `${String(word)}: found` }],
        isError: false,
      }),
    });
    await using emulator = await startEmulator({
      script: [
        reply([
          toolUse("mcp__words__lookup", { word: "one" }, { id: "toolu_1" }),
          toolUse("mcp__words__lookup", { word: "two" }, { id: "toolu_2" }),
        ]),
        text("Both are known."),
      ],
    });
    const allow = { default_config: { permission_policy: { type: "always_allow" as const } } };
    cassette = await record(emulator, {
      tools: [{ type: "mcp_toolset", mcp_server_name: "words", ...allow }],
      mcp_servers: [{ type: "url", name: "words", url: `${server.url}/mcp` }],
    });
  }
  expect(JSON.stringify(cassette.steps)).toContain("two: found");
  const replayed = await replayCassette(cassette);
  expect(replayed.divergence).toBeUndefined();
  expect(replayed.run?.header.agent.mcp_servers).toEqual(cassette.header.agent.mcp_servers);
  const other = JSON.parse(JSON.stringify(cassette.steps).replaceAll("two: found", "two: fount")) as Cassette["steps"];
  expect((await replayCassette({ ...cassette, steps: other })).divergence).toMatchObject({ kind: "call", step: 4 });
});
