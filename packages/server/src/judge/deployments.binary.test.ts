import { BadRequestError, ConflictError, NotFoundError, type default as Anthropic } from "@anthropic-ai/sdk";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const beta = () => stage.client.beta;
const HELLO = { type: "user.message" as const, content: [{ type: "text" as const, text: "Say hello." }] };
const WEEKDAYS = { type: "cron" as const, expression: "0 9 * * 1-5", timezone: "Europe/Berlin" };

type Params = Anthropic.Beta.DeploymentCreateParams;

async function deploy(params: Partial<Params> = {}) {
  return beta().deployments.create({
    name: "report",
    agent: await stage.agent(),
    environment_id: "env_local",
    initial_events: [HELLO],
    ...params,
  });
}

async function namesOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

test("create returns the whole deployment, with a pinned agent and the next five times", async () => {
  const agent = await stage.agent();
  await beta().agents.update(agent, { system: "Be brief." });
  const budget = { type: "limit" as const, max_list_cost: { amount: "250", currency: "USD" as const } };
  const made = await deploy({ agent, schedule: WEEKDAYS, budget, metadata: { team: "a" }, description: "Daily." });
  expect(made).toMatchObject({
    type: "deployment",
    id: expect.stringMatching(/^depl_/) as string,
    name: "report",
    description: "Daily.",
    agent: { type: "agent", id: agent, version: 2 },
    environment_id: "env_local",
    initial_events: [HELLO],
    status: "active",
    paused_reason: null,
    resources: [],
    vault_ids: [],
    budget,
    metadata: { team: "a" },
    archived_at: null,
  });
  expect(made.schedule).toMatchObject({ ...WEEKDAYS, last_run_at: null });
  const times = made.schedule!.upcoming_runs_at!;
  expect(times).toHaveLength(5);
  for (const time of times) {
    const local = new Date(time).toLocaleString("en-GB", {
      timeZone: "Europe/Berlin",
      weekday: "short",
      timeStyle: undefined,
      hour: "2-digit",
      minute: "2-digit",
    });
    expect(local).toMatch(/^(Mon|Tue|Wed|Thu|Fri) 09:00$/);
  }
  expect(await beta().deployments.retrieve(made.id)).toEqual(made);
});

test("a version can be pinned, and an update with the id takes the latest", async () => {
  const agent = await stage.agent();
  await beta().agents.update(agent, { system: "Two." });
  const made = await deploy({ agent: { type: "agent", id: agent, version: 1 } });
  expect(made.agent).toEqual({ type: "agent", id: agent, version: 1 });
  expect(made).toMatchObject({ schedule: null, description: null, budget: null });
  expect((await beta().deployments.update(made.id, { name: "x" })).agent.version).toBe(1);
  expect((await beta().deployments.update(made.id, { agent })).agent.version).toBe(2);
});

test("update: an absent field stays, null and empty clear, metadata merges", async () => {
  const made = await deploy({ schedule: WEEKDAYS, description: "one", metadata: { a: "1", b: "2" } });
  const same = await beta().deployments.update(made.id, {});
  expect(same).toEqual({ ...made, updated_at: same.updated_at });
  const other = await beta().deployments.update(made.id, {
    schedule: null,
    description: "",
    budget: null,
    resources: null,
    vault_ids: null,
    metadata: { a: null, c: "3" },
    initial_events: [HELLO, HELLO],
  });
  expect(other).toMatchObject({ schedule: null, description: null, metadata: { b: "2", c: "3" }, resources: [] });
  expect(other.initial_events).toHaveLength(2);
  const metadata = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`k${index}`, "v"]));
  await expect(beta().deployments.update(made.id, { metadata })).rejects.toThrow(/at most 16/);
});

test.each<[string, Partial<Params>, RegExp]>([
  ["a shortcut", { schedule: { ...WEEKDAYS, expression: "@daily" } }, /schedule\.expression: shortcuts/],
  ["seconds", { schedule: { ...WEEKDAYS, expression: "0 0 9 * * *" } }, /five fields/],
  ["a day that does not exist", { schedule: { ...WEEKDAYS, expression: "0 0 31 2 *" } }, /never matches/],
  ["an unknown zone", { schedule: { ...WEEKDAYS, timezone: "Europe/Atlantis" } }, /no time zone/],
  ["no event", { initial_events: [] }, /at least one event/],
  ["an unknown event", { initial_events: [{ type: "user.nothing" } as never] }, /initial_events/],
  ["an unknown file", { resources: [{ type: "file", file_id: "file_none" }] }, /file_none/],
  ["an unknown setting of a session", { metadata: { "tandem.nothing": "x" } }, /tandem\.nothing/],
  ["an empty name", { name: "" }, /name/],
])("create refuses %s", async (_, params, message) => {
  await expect(deploy(params)).rejects.toThrow(message);
  await expect(deploy(params)).rejects.toBeInstanceOf(BadRequestError);
});

test("create refuses unknown and archived agents and environments", async () => {
  const agent = await stage.agent();
  await beta().agents.archive(agent);
  await expect(deploy({ agent })).rejects.toThrow(/archived/);
  await expect(deploy({ agent: "agent_none" })).rejects.toBeInstanceOf(NotFoundError);
  await expect(deploy({ environment_id: "env_none" })).rejects.toBeInstanceOf(NotFoundError);
  await expect(beta().deployments.retrieve("depl_none")).rejects.toBeInstanceOf(NotFoundError);
  await expect(beta().deploymentRuns.retrieve("drun_none")).rejects.toBeInstanceOf(NotFoundError);
});

test("run creates a session with the deployment's definition, also while it is paused", async () => {
  const budget = { type: "limit" as const, max_list_cost: { amount: "250", currency: "USD" as const } };
  const made = await deploy({ schedule: WEEKDAYS, budget });
  const paused = await beta().deployments.pause(made.id);
  expect(paused).toMatchObject({ status: "paused", paused_reason: { type: "manual" } });
  expect(paused.schedule!.upcoming_runs_at).toHaveLength(5);
  const run = await beta().deployments.run(made.id);
  expect(run).toEqual({
    type: "deployment_run",
    id: expect.stringMatching(/^drun_/) as string,
    deployment_id: made.id,
    agent: made.agent,
    trigger_context: { type: "manual" },
    session_id: expect.stringMatching(/^sesn_/) as string,
    error: null,
    created_at: expect.any(String) as string,
  });
  expect(await beta().deploymentRuns.retrieve(run.id)).toEqual(run);
  const session = await beta().sessions.retrieve(run.session_id!);
  expect(session).toMatchObject({ deployment_id: made.id, budget, agent: { id: made.agent.id, version: 1 } });
  expect(await namesOf(beta().sessions.list({ deployment_id: made.id }))).toEqual([session.id]);
  expect(await namesOf(beta().sessions.list({ deployment_id: "depl_none" }))).toEqual([]);
  const [first] = (await beta().sessions.events.list(session.id)).data;
  expect(first).toMatchObject(HELLO);
  const after = await beta().deployments.retrieve(made.id);
  expect(after).toMatchObject({ status: "paused", schedule: { last_run_at: null } });
  expect(await beta().deployments.unpause(made.id)).toMatchObject({ status: "active", paused_reason: null });
});

test("a failed manual run tells why, and does not pause", async () => {
  const environment = await beta().environments.create({ name: "gone" });
  const made = await deploy({ environment_id: environment.id, schedule: WEEKDAYS });
  await beta().environments.archive(environment.id);
  const run = await beta().deployments.run(made.id);
  expect(run).toMatchObject({ session_id: null, error: { type: "environment_archived_error" } });
  await beta().environments.delete(environment.id);
  expect((await beta().deployments.run(made.id)).error).toMatchObject({ type: "environment_not_found_error" });
  expect((await beta().deployments.retrieve(made.id)).status).toBe("active");
  const runs = beta().deploymentRuns;
  expect(await namesOf(runs.list({ deployment_id: made.id, has_error: false }))).toEqual([]);
  expect(await namesOf(runs.list({ deployment_id: made.id, has_error: true, limit: 1 }))).toHaveLength(2);
  expect(await namesOf(runs.list({ deployment_id: made.id, trigger_type: "schedule" }))).toEqual([]);
  expect(await namesOf(runs.list({ deployment_id: made.id, "created_at[gt]": run.created_at }))).toHaveLength(1);
  expect(await namesOf(runs.list({ deployment_id: made.id, "created_at[lte]": run.created_at }))).toEqual([run.id]);
  expect(await namesOf(runs.list({ deployment_id: "depl_none" }))).toEqual([]);
});

test("archive is final; its agent's archive archives a deployment, too", async () => {
  const agent = await stage.agent();
  const [first, second] = [await deploy({ agent, schedule: WEEKDAYS }), await deploy({ agent, schedule: WEEKDAYS })];
  await beta().deployments.pause(first.id);
  const archived = await beta().deployments.archive(first.id);
  expect(archived).toMatchObject({ status: "active", paused_reason: null, schedule: { upcoming_runs_at: [] } });
  expect(archived.archived_at).toEqual(expect.any(String));
  expect(await beta().deployments.archive(first.id)).toEqual(archived);
  const refused = [
    () => beta().deployments.run(first.id),
    () => beta().deployments.pause(first.id),
    () => beta().deployments.unpause(first.id),
    () => beta().deployments.update(first.id, { name: "x" }),
  ];
  for (const call of refused) await expect(call()).rejects.toThrow(/archived/);
  await beta().agents.archive(agent);
  expect((await beta().deployments.retrieve(second.id)).archived_at).toEqual(expect.any(String));
  expect(await namesOf(beta().deployments.list({ agent_id: agent }))).toEqual([]);
  expect(await namesOf(beta().deployments.list({ agent_id: agent, include_archived: true }))).toEqual([
    second.id,
    first.id,
  ]);
});

test("list pages, newest first, and filters", async () => {
  const agent = await stage.agent();
  const made: string[] = [];
  for (let index = 0; index < 5; index += 1) made.unshift((await deploy({ agent })).id);
  await beta().deployments.pause(made[1]!);
  const list = (params: Anthropic.Beta.DeploymentListParams) =>
    namesOf(beta().deployments.list({ agent_id: agent, ...params }));
  expect(await list({ limit: 2 })).toEqual(made);
  expect(await list({ status: "paused" })).toEqual([made[1]]);
  expect(await list({ status: "active" })).toHaveLength(4);
  const { created_at: middle } = await beta().deployments.retrieve(made[2]!);
  expect(await list({ "created_at[lte]": middle })).toEqual(made.slice(2));
  await expect(list({ status: "active", include_archived: true })).rejects.toBeInstanceOf(BadRequestError);
  await expect(beta().deployments.list({ page: "not a page" })).rejects.toBeInstanceOf(BadRequestError);
});

test("a run that the client repeats by itself starts one session", async () => {
  const made = await deploy();
  const headers = (count: number) => ({ headers: { "X-Stainless-Retry-Count": String(count) } });
  const key = { headers: { "Idempotency-Key": "run-once" } };
  const first = await beta().deployments.run(made.id, null, key);
  expect(await beta().deployments.run(made.id, null, key)).toEqual(first);
  const other = await beta().deployments.run(made.id, null, headers(0));
  expect(other.id).not.toBe(first.id);
  expect(await namesOf(beta().sessions.list({ deployment_id: made.id }))).toHaveLength(2);
});

test("a policy that asks is pointed out, because no person watches a run", async () => {
  const tools = [
    {
      type: "agent_toolset_20260401" as const,
      configs: [{ name: "bash" as const, permission_policy: { type: "always_ask" as const } }],
    },
  ];
  const asking = (await deploy({ agent: await stage.agent({ tools }) })) as unknown as {
    tandem: { warnings: string[] };
  };
  expect(asking.tandem.warnings).toEqual([expect.stringContaining("asks before calls of bash")]);
  const bypass = { "tandem.permission_mode": "bypassPermissions" };
  const passing = await deploy({ agent: await stage.agent({ tools }), metadata: bypass }).catch(
    (error: unknown) => error,
  );
  // As root, the mode is refused at create, as a session refuses it.
  if (passing instanceof Error) expect(passing.message).toMatch(/bypassPermissions/);
  else expect(passing).toMatchObject({ tandem: { warnings: [] } });
});

test("a stopped server refuses manual runs", async () => {
  const made = await deploy();
  await stage.client.post("/v1/stop", { body: { reason: "test" } });
  try {
    await expect(beta().deployments.run(made.id, null, { maxRetries: 0 })).rejects.toBeInstanceOf(ConflictError);
  } finally {
    await stage.client.post("/v1/resume", { body: {} });
  }
});
