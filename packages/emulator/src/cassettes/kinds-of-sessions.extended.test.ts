import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { replayCassette } from "./replay-cassette.ts";
import { exported } from "./testing/recorded-sessions.ts";

const used = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });
const asksForSummary = ({ lastUserText }: ModelRequest): boolean => lastUserText.startsWith("CRITICAL");

test("compactions of Claude Code replay identically, without a process and with real tools", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [
      when(asksForSummary, text("<summary>Hello.</summary>", used(777, 77))),
      when(asksForSummary, text("<summary>Again.</summary>", used(778, 78))),
      text("Big.", used(985_000, 5)),
      text("Small again.", used(50, 6)),
      text("Third.", used(50, 6)),
    ],
  });
  const { client, id, turn } = await emulatedSession(emulator);
  await turn("One.");
  await turn("Two.");
  const stream = await client.beta.sessions.events.stream(id);
  const headers = { "x-api-key": emulator.apiKey, "content-type": "application/json" };
  await fetch(`${emulator.url}/v1/sessions/${id}/compact`, { method: "POST", headers, body: "{}" });
  for await (const event of stream) if (event.type === "session.status_idle") break;
  await turn("Three.");
  const cassette = await exported(emulator, id);
  const triggers = cassette.steps.flatMap((step) =>
    step.kind === "input" && step.event.type === "tandem.compaction" ? [step.event.trigger] : [],
  );
  expect(triggers).toEqual(["auto", "manual"]);
  const { divergence, run } = await replayCassette(cassette);
  expect(divergence).toBeUndefined();
  expect(run?.header.usd).toBe(cassette.header.usd);
  expect((await replayCassette(cassette, { mode: "real_tools" })).divergence).toBeUndefined();
});

test("a session whose subagent and command ended in the background replays identically without a process", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [
      when(({ lastUserText }) => lastUserText === "Review", toolUse("Bash", { command: "echo reviewed" })),
      when(({ toolResults }) => toolResults.some((result) => result.text.includes("reviewed")), text("It is good.")),
      toolUse("Agent", {
        description: "Review task",
        prompt: "Review",
        subagent_type: "reviewer",
        run_in_background: true,
      }),
      text("On its way."),
      text("It came back."),
      toolUse("Bash", { command: "echo gone", run_in_background: true }),
      text("It runs."),
      text("It has ended."),
    ],
  });
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const about = { model: "claude-sonnet-5-5", tools: [{ type: "agent_toolset_20260401" as const }] };
  const reviewer = await client.beta.agents.create({ name: "reviewer", description: "Reviews.", ...about });
  const multiagent = { type: "coordinator" as const, agents: [reviewer.id] };
  const agent = await client.beta.agents.create({ name: "lead", ...about, multiagent });
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  for (const [words, last] of [
    ["Have it reviewed.", "It came back."],
    ["Run it.", "It has ended."],
  ] as const) {
    const stream = await client.beta.sessions.events.stream(id);
    const content = [{ type: "text" as const, text: words }];
    await client.beta.sessions.events.send(id, { events: [{ type: "user.message", content }] });
    // A command may end between two turns: the session is idle before the last answer, too.
    let isLast = false;
    for await (const event of stream) {
      if (event.type === "agent.message") isLast ||= JSON.stringify(event.content).includes(last);
      if (event.type === "session.status_idle" && isLast) break;
    }
  }
  const cassette = await exported(emulator, id);
  expect(new Set(cassette.steps.map(({ thread }) => thread)).size).toBe(2);
  for (let time = 0; time < 3; time += 1) expect((await replayCassette(cassette)).divergence).toBeUndefined();
  await expect(replayCassette(cassette, { mode: "real_tools" })).rejects.toMatchObject({
    message: "A replay cannot repeat: a task in the background.",
  });
});
