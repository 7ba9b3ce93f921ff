import type { Agent } from "@tandem/protocol";
import { expect, test } from "vitest";
import { draftOf, paramsOf } from "./agent-draft.ts";

const agent = {
  id: "agent_1",
  version: 3,
  name: "coder",
  description: null,
  model: { id: "claude-sonnet-5-5", effort: { type: "high" } },
  system: "Be brief.",
  multiagent: { type: "multiagent_20261001", subagents: { type: "disabled" } },
  skills: [],
  tools: [
    {
      type: "agent_toolset_20260401",
      default_config: { enabled: true, permission_policy: { type: "always_ask" } },
      configs: [],
    },
    { type: "custom", name: "weather", description: "", input_schema: { type: "object" } },
  ],
} as unknown as Agent;

test("an unchanged agent sends its version and no tools", () => {
  const params = paramsOf(draftOf(agent), agent);
  expect(params).toEqual({
    name: "coder",
    description: null,
    model: { id: "claude-sonnet-5-5", effort: "high" },
    system: "Be brief.",
    version: 3,
  });
});

test("changing the policy keeps tools that the form does not show", () => {
  const { tools } = paramsOf({ ...draftOf(agent), policy: "auto" }, agent);
  expect(tools).toEqual([
    { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "auto" } } },
    agent.tools[1],
  ]);
  expect(paramsOf({ ...draftOf(agent), policy: "none" }, agent)["tools"]).toEqual([agent.tools[1]]);
});

test("a new agent may call subagents, and the form switches them", () => {
  expect(paramsOf(draftOf(undefined), undefined).multiagent).toMatchObject({ subagents: { type: "enabled" } });
  const switched = paramsOf({ ...draftOf(agent), subagents: "enabled" }, agent);
  expect(switched.multiagent).toEqual({ type: "multiagent_20261001", subagents: { type: "enabled" } });
});
