import type { HostServer } from "@tandem/claude-code";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const asked: unknown[] = [];
const almanac = (session: string): HostServer => ({
  name: "almanac",
  timeoutMs: 10_000,
  tools: [
    {
      name: "look_up",
      description: "Looks something up.",
      inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
      readOnly: true,
      run: async (input) => {
        asked.push({ session, input });
        return { text: "A river of 2,850 km.", isError: false };
      },
    },
    {
      name: "write_down",
      description: "Writes something down.",
      inputSchema: { type: "object", properties: {} },
      readOnly: false,
      run: async () => ({ text: "Written.", isError: false }),
    },
  ],
});

const stage = await setEngineStage();
const engine = await stage.open({ hostServers: async (session) => [almanac(session)] });
afterAll(() => stage[Symbol.asyncDispose]());

test("a session offers the host's tools; read-only ones run without approval", async () => {
  stage.rehearsal.use([reply([toolUse("mcp__almanac__look_up", { word: "Danube" })]), text("2,850 km.")]);
  const session = await engine.reuse({ tools: [] });
  const events = await engine.turn(session, "How long is the Danube?");
  expect(asked).toEqual([{ session: session.id, input: { word: "Danube" } }]);
  expect(the(events, "agent.mcp_tool_use")).toMatchObject({
    mcp_server_name: "almanac",
    name: "look_up",
    input: { word: "Danube" },
    evaluated_permission: "allow",
  });
  expect(the(events, "agent.mcp_tool_result")).toMatchObject({
    content: [{ type: "text", text: "A river of 2,850 km." }],
  });
  const [first] = stage.rehearsal.modelRequests;
  expect(first!.toolNames).toEqual(expect.arrayContaining(["mcp__almanac__look_up", "mcp__almanac__write_down"]));
  // It is not one of the agent's servers and is not announced.
  expect(typesOf(events)).not.toContain("tandem.mcp_status");
});

test("other host tools ask for approval", async () => {
  stage.rehearsal.use([reply([toolUse("mcp__almanac__write_down", {})]), text("It was not wanted.")]);
  const session = await engine.reuse({ tools: [] });
  const after = await engine.engine.sessions.head(session.id);
  await engine.say(session, "Write it down.");
  const events = await engine.until(session, ({ event }) => event.type === "session.status_idle", after);
  const use = the(events, "agent.mcp_tool_use");
  expect(use).toMatchObject({ name: "write_down", evaluated_permission: "ask" });
  expect(the(events, "session.status_idle").stop_reason).toMatchObject({
    type: "requires_action",
    event_ids: [use.id],
  });
  await engine.engine.sessions.send(session.id, [
    { type: "user.tool_confirmation", tool_use_id: use.id, result: "allow" },
  ]);
  const rest = await engine.until(session, ({ event }) => event.type === "agent.message", after);
  expect(the(rest, "agent.mcp_tool_result")).toMatchObject({ content: [{ text: "Written." }] });
});

test("an agent's own server of the same name takes precedence", async () => {
  stage.rehearsal.use([text("Fine.")]);
  const session = await engine.session(
    {},
    {
      mcp_servers: [{ type: "url", name: "almanac", url: "http://127.0.0.1:9/mcp" }],
      tools: [{ type: "mcp_toolset", mcp_server_name: "almanac" }],
    },
  );
  await engine.turn(session, "Hello.");
  const last = stage.rehearsal.modelRequests.at(-1)!;
  expect(last.toolNames.filter((name) => name.startsWith("mcp__almanac__"))).toEqual([]);
});
