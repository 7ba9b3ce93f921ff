import { BadRequestError, ConflictError, NotFoundError } from "@anthropic-ai/sdk";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const agents = () => stage.client.beta.agents;

test("create returns the whole agent, with its defaults", async () => {
  const agent = await agents().create({
    name: "reviewer",
    model: { id: "sonnet", effort: "high" },
    system: "Be brief.",
    tools: [
      { type: "agent_toolset_20260401", configs: [{ name: "bash", permission_policy: { type: "always_allow" } }] },
      { type: "custom", name: "lookup", description: "Looks up.", input_schema: { type: "object", properties: {} } },
    ],
    metadata: { team: "a" },
  });
  expect(agent).toMatchObject({
    type: "agent",
    id: expect.stringMatching(/^agent_/),
    version: 1,
    name: "reviewer",
    description: null,
    model: { id: "claude-sonnet-5-5", effort: { type: "high" } },
    system: "Be brief.",
    mcp_servers: [],
    skills: [],
    multiagent: null,
    metadata: { team: "a" },
    execution_identity: { type: "service_account" },
    archived_at: null,
  });
  expect(agent.tools[0]).toMatchObject({ type: "agent_toolset_20260401", default_config: { enabled: true } });
  expect(await agents().retrieve(agent.id)).toEqual(agent);
});

test("update adds a version, null clears, and absent fields stay", async () => {
  const first = await agents().create({ name: "a", model: "sonnet", system: "One.", metadata: { a: "1", b: "2" } });
  const second = await agents().update(first.id, { system: "Two.", metadata: { a: null, c: "3" }, version: 1 });
  expect(second).toMatchObject({ version: 2, name: "a", system: "Two.", metadata: { b: "2", c: "3" } });
  const third = await agents().update(first.id, { system: null });
  expect(third).toMatchObject({ version: 3, system: null });
  expect(await agents().update(first.id, { system: null })).toMatchObject({ version: 3 });
  expect(await agents().retrieve(first.id, { version: 1 })).toMatchObject({ version: 1, system: "One." });
  const versions = [];
  for await (const { version } of agents().versions.list(first.id, { limit: 2 })) versions.push(version);
  expect(versions).toEqual([3, 2, 1]);
});

test("multiagent has the API's defaults, and updates merge level by level", async () => {
  const type = "multiagent_20261001" as const;
  const on = { type: "enabled", inline_agents: { type: "enabled" }, predefined_agents: [] };
  const helper = await agents().create({ name: "helper", model: "haiku" });
  const { id, multiagent } = await agents().create({
    name: "m",
    model: "sonnet",
    multiagent: { type, subagents: null },
  });
  expect(multiagent).toEqual({ type, subagents: on, workflows: on, advisor: { type: "disabled" } });
  const update = async (change: object) => (await agents().update(id, { multiagent: { type, ...change } })).multiagent;
  const roster = [{ type: "agent", id: helper.id, version: 1 }];
  expect(await update({ subagents: { type: "enabled", predefined_agents: [helper.id] } })).toMatchObject({
    subagents: { ...on, predefined_agents: roster },
  });
  expect(
    await update({
      subagents: { type: "enabled", inline_agents: { type: "disabled" } },
      workflows: { type: "disabled" },
    }),
  ).toMatchObject({
    subagents: { inline_agents: { type: "disabled" }, predefined_agents: roster },
    workflows: { type: "disabled" },
  });
  expect(await update({ workflows: null })).toMatchObject({
    subagents: { inline_agents: { type: "disabled" }, predefined_agents: roster },
    workflows: on,
  });
  await expect(update({ subagents: { type: "enabled", predefined_agents: [] } })).rejects.toThrow(BadRequestError);
  await expect(update({ advisor: { type: "enabled", model: "claude-opus-5" } })).rejects.toThrow(BadRequestError);
  expect(await update({ subagents: null })).toMatchObject({ subagents: on });
  expect((await agents().update(id, { multiagent: null })).multiagent).toBeNull();
});

test("update of an old version is a conflict without a retry", async () => {
  const { id } = await agents().create({ name: "a", model: "sonnet" });
  await agents().update(id, { name: "b" });
  const before = stage.server.log.length;
  await expect(agents().update(id, { name: "c", version: 1 })).rejects.toThrow(ConflictError);
  await expect.poll(() => stage.server.log.length).toBe(before + 1);
});

test("list goes through all pages, and includes archived agents only on request", async () => {
  const made: string[] = [];
  for (let i = 0; i < 5; i++) made.push((await agents().create({ name: `list ${i}`, model: "haiku" })).id);
  const archived = await agents().archive(made[2]!);
  expect(archived.archived_at).not.toBeNull();
  const collect = async (query: object): Promise<string[]> => {
    const ids = [];
    for await (const { id } of agents().list({ limit: 2, ...query })) if (made.includes(id)) ids.push(id);
    return ids;
  };
  expect(await collect({})).toEqual(made.filter((id) => id !== archived.id).toReversed());
  expect(await collect({ include_archived: true })).toEqual(made.toReversed());
  expect(await collect({ "created_at[gte]": "2100-01-01T00:00:00Z" })).toEqual([]);
  await expect(agents().update(made[2]!, { name: "x" })).rejects.toThrow(BadRequestError);
});

test("bad input gets the right error class and message", async () => {
  await expect(agents().retrieve("agent_nothing")).rejects.toThrow(NotFoundError);
  await expect(agents().create({ name: "a", model: "gpt-7" })).rejects.toThrow(/claude-sonnet-5-5, claude-haiku-5-5/);
  await expect(
    agents().create({ name: "a", model: "sonnet", skills: [{ type: "anthropic", skill_id: "pdf" }] }),
  ).rejects.toThrow(/skills/);
  await expect(agents().list({ page: "nonsense" })).rejects.toThrow(BadRequestError);
});
