import Anthropic from "@anthropic-ai/sdk";
import type { CassetteStep } from "@tandem/protocol";
import { stallMidStream, text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { Emulator } from "../emulator.ts";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { replayCassette } from "./replay-cassette.ts";
import { ASKING, exported } from "./testing/recorded-sessions.ts";

const inputs = (steps: readonly CassetteStep[]): string[] =>
  steps.flatMap((step) => (step.kind === "input" ? [step.event.type] : []));

const post = async ({ url, apiKey }: Emulator, path: string, body: object): Promise<void> => {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
};

test("rewinds and their undoing replay identically, and another target is a difference", async () => {
  await using emulator = await startEmulator({
    script: ["One", "Two", "Three", "Four"].map((word) => text(`${word}.`)),
  });
  const session = await emulatedSession(emulator);
  await session.turn("1");
  await session.turn("2");
  const rewind = { turn: 2, scope: "conversation" };
  await post(emulator, `/v1/sessions/${session.id}/rewind`, rewind);
  await post(emulator, `/v1/sessions/${session.id}/rewind/undo`, {});
  await post(emulator, `/v1/sessions/${session.id}/rewind`, rewind);
  await session.turn("3");
  const cassette = await exported(emulator, session.id);
  expect(inputs(cassette.steps).filter((type) => type === "tandem.rewound")).toHaveLength(3);
  expect((await replayCassette(cassette)).divergence).toBeUndefined();

  const steps = cassette.steps.map((step) =>
    step.kind === "input" && step.event.type === "tandem.rewound" && step.event.prompt !== null
      ? { ...step, event: { ...step.event, prompt: 9 } }
      : step,
  );
  const { divergence } = await replayCassette({ ...cassette, steps, events: [] });
  expect(divergence).toMatchObject({ step: 7, kind: "input" });
});

const VERDICTS = [
  { explanation: "No file.", result: "needs_revision" },
  { explanation: "It is there.", result: "satisfied" },
];

test("outcomes get their recorded verdicts, also one that an interrupt cut off", async () => {
  let graded = 0;
  await using emulator = await startEmulator({
    script: async ({ toolNames }) => {
      if (!toolNames.includes("StructuredOutput")) return text("I have worked.");
      const verdict = VERDICTS[graded];
      graded += 1;
      return verdict ? toolUse("StructuredOutput", verdict) : stallMidStream("Let me see");
    },
  });
  const { client, id } = await emulatedSession(emulator);
  const rubric = { type: "text" as const, content: "There is a file." };
  const define = async (isTime: () => boolean): Promise<void> => {
    const stream = await client.beta.sessions.events.stream(id);
    await client.beta.sessions.events.send(id, {
      events: [{ type: "user.define_outcome", description: "A file.", rubric }],
    });
    for await (const event of stream) {
      if (event.type === "span.outcome_evaluation_start" && isTime()) {
        await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
      }
      if (event.type === "session.status_idle") return;
    }
  };
  await define(() => false);
  await define(() => true);
  const cassette = await exported(emulator, id);
  const results = cassette.steps.flatMap((step) =>
    step.kind === "input" && step.event.type === "span.outcome_evaluation_end" ? [step.event.result] : [],
  );
  expect(results).toEqual(["needs_revision", "satisfied", "interrupted"]);
  const { divergence, run } = await replayCassette(cassette);
  expect(divergence).toBeUndefined();
  expect(run?.header.usd).toBe(cassette.header.usd);
});

test("results of a self-hosted environment's worker are sent in the worker's place", async () => {
  await using emulator = await startEmulator({
    script: [toolUse("mcp__environment__bash", { command: "ls" }), text("Done.")],
  });
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const environment = await client.beta.environments.create({ name: "own", config: { type: "self_hosted" } });
  const agent = await client.beta.agents.create({ name: "tester", model: "claude-sonnet-5-5", tools: ASKING! });
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const stream = await client.beta.sessions.events.stream(id);
  const send = (event: Anthropic.Beta.Sessions.EventSendParams["events"][number]) =>
    client.beta.sessions.events.send(id, { events: [event] });
  await send({ type: "user.message", content: [{ type: "text", text: "Look." }] });
  for await (const event of stream) {
    if (event.type === "user.tool_confirmation") {
      const content = [{ type: "text" as const, text: "a.txt" }];
      await send({ type: "user.tool_result", tool_use_id: event.tool_use_id, content });
    }
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action") break;
    await send({ type: "user.tool_confirmation", tool_use_id: event.stop_reason.event_ids[0]!, result: "allow" });
  }
  const cassette = await exported(emulator, id);
  expect(inputs(cassette.steps)).toEqual(["user.message", "user.tool_confirmation", "user.tool_result"]);
  expect((await replayCassette(cassette)).divergence).toBeUndefined();
});

test("an input that waits for the wrong call is named soon, not after a timeout", async () => {
  await using emulator = await startEmulator({
    script: [toolUse("Bash", { command: "one" }, { id: "toolu_1" }), text("Done.")],
    tools: { Bash: () => "ran" },
  });
  const { client, id } = await emulatedSession(emulator, ASKING);
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, {
    events: [{ type: "user.message", content: [{ type: "text", text: "Work." }] }],
  });
  for await (const event of stream) {
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action") break;
    await client.beta.sessions.events.send(id, {
      events: [{ type: "user.tool_confirmation", tool_use_id: event.stop_reason.event_ids[0]!, result: "allow" }],
    });
  }
  const cassette = await exported(emulator, id);
  const answer = cassette.steps.find((step) => step.kind === "input" && "call" in step.event)?.step;
  const steps = cassette.steps.map((step) =>
    step.kind === "input" && step.step === answer ? { ...step, after: ["toolu_1"] } : step,
  );
  // The file contradicts its events.
  expect((await replayCassette({ ...cassette, steps })).divergence).toMatchObject({ step: answer, from: "events" });
  // Without them, the run waits for itself.
  const { divergence } = await replayCassette({ ...cassette, steps, events: [] }, { stallMs: 600_000 });
  expect(divergence).toMatchObject({ step: answer, kind: "input", from: "replay" });
});
