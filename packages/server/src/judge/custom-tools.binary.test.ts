import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { collectUntil, endsTurn, ofType, requiresAction } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

afterAll(() => stage[Symbol.asyncDispose]());

const events = () => stage.client.beta.sessions.events;
const weather = {
  type: "custom" as const,
  name: "weather",
  description: "The weather of a city.",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
};
const stage = await setJudgeStage();
const default_config = { permission_policy: { type: "always_allow" as const } };
/** One session for all tests: each new one starts a process. */
const session = await stage.session({}, { tools: [weather, { type: "agent_toolset_20260401", default_config }] });
const call = (city: string) => toolUse("mcp__tandem__weather", { city });

test("a custom tool is called by the model and answered by the client", async () => {
  stage.rehearsal.use([call("Bern"), text("It rains.")]);
  const stream = await events().stream(session);
  await stage.say(session, "How is the weather?");
  const [use] = ofType(await collectUntil(stream, requiresAction), "agent.custom_tool_use");
  expect(use).toMatchObject({ name: "weather", input: { city: "Bern" } });
  const rest = await events().stream(session);
  await events().send(session, {
    events: [
      { type: "user.custom_tool_result", custom_tool_use_id: use!.id, content: [{ type: "text", text: "8 degrees" }] },
    ],
  });
  const after = await collectUntil(rest, endsTurn);
  expect(ofType(after, "agent.message")[0]!.content).toEqual([{ type: "text", text: "It rains." }]);
});

test("SessionToolRunner runs a local tool, posts its result, and stops by itself when the turn is over", async () => {
  stage.rehearsal.use([call("Rome"), text("It shines.")]);
  const asked: string[] = [];
  const tool = betaZodTool({
    name: "weather",
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => {
      asked.push(city);
      return "sun";
    },
  });
  await stage.say(session, "How is the weather?");
  const runner = events().toolRunner(session, { tools: [tool], maxIdleMs: 500 });
  const calls = [];
  for await (const done of runner) calls.push(done);
  expect(asked).toEqual(["Rome"]);
  expect(calls).toMatchObject([{ name: "weather", isError: false, posted: true }]);
  const history = await events().list(session, { types: ["user.custom_tool_result", "agent.message"] });
  expect(history.data.slice(-2)).toMatchObject([{ content: [{ text: "sun" }] }, { content: [{ text: "It shines." }] }]);
});

test("SessionToolRunner leaves the server's own tools alone", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "echo from-the-server" }), text("Done.")]);
  const ran: string[] = [];
  const bash = betaZodTool({
    name: "bash",
    description: "A shell.",
    inputSchema: z.object({ command: z.string() }),
    run: ({ command }) => {
      ran.push(command);
      return "from the client";
    },
  });
  await stage.say(session, "Run it.");
  for await (const done of events().toolRunner(session, { tools: [bash], maxIdleMs: 500 }))
    expect(done.posted).toBe(false);
  expect(ran).toEqual([]);
  const results = await events().list(session, { types: ["agent.tool_result"] });
  expect(JSON.stringify(results.data)).toContain("from-the-server");
});
