import { BadRequestError } from "@anthropic-ai/sdk";
import type { BetaManagedAgentsEventParams } from "@anthropic-ai/sdk/resources/beta/sessions/events";
import { text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType, requiresAction } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const events = () => stage.client.beta.sessions.events;
const message = (words: string) => ({
  type: "user.message" as const,
  content: [{ type: "text" as const, text: words }],
});
const system = (words: string) => ({
  type: "system.message" as const,
  content: [{ type: "text" as const, text: words }],
});
const lastRequest = (): ModelRequest => stage.rehearsal.modelRequests.at(-1)!;
const lastMessage = (): string => JSON.stringify(lastRequest().messages.findLast(({ role }) => role === "user"));

async function turn(session: string, sent: Parameters<ReturnType<typeof events>["send"]>[1]["events"]) {
  const stream = await events().stream(session);
  const echo = await events().send(session, { events: sent });
  return { echo: echo.data ?? [], events: await collectUntil(stream, endsTurn) };
}

test("a system message counts for the message that it accompanies and for all later turns", async () => {
  stage.rehearsal.use([text("One."), text("Two."), text("Three."), text("Four.")]);
  const session = await stage.session();
  const first = await turn(session, [message("Begin."), system("Speak only of rivers.")]);
  expect(first.echo.map(({ type }) => type)).toEqual(["user.message", "system.message"]);
  expect(lastRequest().system).toContain("Speak only of rivers.");

  // The process runs: its system prompt cannot change.
  await turn(session, [message("Go on."), system("Name the Danube.")]);
  expect(lastMessage()).toMatch(/<system-message id=\\"sevt_\w+\\">\\nName the Danube\.\\n<\/system-message>.*Go on\./);

  // Alone, while idle: it begins no turn.
  await events().send(session, { events: [system("Be brief.")] });
  await expect
    .poll(async () =>
      (await events().list(session, { types: ["system.message"] })).data.map(({ processed_at }) => processed_at),
    )
    .toEqual([expect.any(String), expect.any(String), expect.any(String)]);
  expect((await stage.client.beta.sessions.retrieve(session)).status).toBe("idle");
  await turn(session, [message("And now?")]);
  expect(lastMessage()).toContain("Be brief.");

  // A new process has all of them in its system prompt; here because the agent's tools changed.
  await stage.client.beta.sessions.update(session, { agent: { tools: [{ type: "agent_toolset_20260401" }] } });
  await turn(session, [message("Still there?")]);
  for (const words of ["Speak only of rivers.", "Name the Danube.", "Be brief."]) {
    expect(lastRequest().system).toContain(words);
  }
  expect(lastMessage()).not.toContain("system-message");
});

test("with a custom tool's result it reaches the model within the turn", async () => {
  stage.rehearsal.use([toolUse("mcp__tandem__weather", { city: "Bern" }), text("It rains.")]);
  const weather = {
    type: "custom" as const,
    name: "weather",
    description: "The weather.",
    input_schema: { type: "object" as const },
  };
  const session = await stage.session({}, { tools: [weather] });
  const stream = await events().stream(session);
  await stage.say(session, "How is the weather?");
  const [use] = ofType(await collectUntil(stream, requiresAction), "agent.custom_tool_use");
  await expect(events().send(session, { events: [system("Now.")] })).rejects.toThrow(/user\.custom_tool_result/);
  const result = {
    type: "user.custom_tool_result" as const,
    custom_tool_use_id: use!.id,
    content: [{ type: "text" as const, text: "8 degrees" }],
  };
  await turn(session, [result, system("Use Fahrenheit.")]);
  expect(lastMessage()).toMatch(/Use Fahrenheit\..*8 degrees/);
});

test("the rules of the official client's documentation hold", async () => {
  const session = await stage.session();
  const refused: [BetaManagedAgentsEventParams[], RegExp][] = [
    [[system("A"), message("B")], /must be the last event/],
    [[message("A"), system("B"), system("C")], /must be the last event/],
    [[{ type: "user.interrupt" }, system("A")], /must follow user\.message/],
    [[{ type: "system.message", content: [] }], /at least one content block/],
  ];
  for (const [sent, reason] of refused) {
    const send = events().send(session, { events: sent });
    await expect(send).rejects.toThrow(reason);
    await expect(send).rejects.toBeInstanceOf(BadRequestError);
  }
  const builtin = events().send(session, { events: [{ type: "user.tool_result", tool_use_id: "sevt_x" }] });
  await expect(builtin).rejects.toThrow(/400.*self-hosted/);
});
