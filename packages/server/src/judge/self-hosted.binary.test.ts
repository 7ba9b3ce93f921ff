import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import Anthropic, { APIError, BadRequestError, ConflictError, NotFoundError, toFile } from "@anthropic-ai/sdk";
import { BetaHeartbeatPreconditionFailedError } from "@anthropic-ai/sdk/resources/beta/environments/work";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeEach, expect, test } from "vitest";
import { endsTurn, collectUntil, ofType, requiresAction } from "../testing/collect-stream.ts";
import { setJudgeStage, type JudgeStage } from "../testing/judge-stage.ts";

let environment: string;
let environmentKey: string;
const stage = await setJudgeStage();
const workdir = await scratchFolder();
beforeEach(async () => {
  environment = (await beta().environments.create({ name: "own", config: { type: "self_hosted" } })).id;
  environmentKey = (await key(environment)).secret;
});
afterAll(() => stage[Symbol.asyncDispose]());

const beta = () => stage.client.beta;
const work = () => beta().environments.work;
const key = (id: string, name?: string) =>
  stage.client.post<{ id: string; secret: string }>(`/v1/environments/${id}/keys`, { body: name ? { name } : {} });
const worker = (authToken: string) =>
  new Anthropic({ apiKey: null, authToken, baseURL: stage.server.url, maxRetries: 0 });
const call = (name: string, input: Record<string, unknown>) => toolUse(`mcp__environment__${name}`, input);
const allow = {
  type: "agent_toolset_20260401" as const,
  default_config: { permission_policy: { type: "always_allow" as const } },
};
const session = (tools: Parameters<JudgeStage["agent"]>[0] = { tools: [allow] }, more = {}) =>
  stage.session({ environment_id: environment, ...more }, tools);
const statusOf = async (request: Promise<unknown>) =>
  request.then(
    () => 200,
    (error: unknown) => (error instanceof APIError ? error.status : error),
  );

/** Runs the official worker until the session is done. */
async function serve(id: string, { until = "Done." } = {}): Promise<string[]> {
  const done = new AbortController();
  const running = work()
    .worker({ environmentId: environment, environmentKey, workdir, maxIdleMs: 300 })
    .run(done.signal);
  await expect
    .poll(async () => JSON.stringify((await beta().sessions.events.list(id, { limit: 1000 })).data))
    .toContain(until);
  // The worker gives its item back.
  await expect.poll(async () => (await items(id)).every(({ state }) => state === "stopped")).toBe(true);
  done.abort();
  await running.catch(() => undefined);
  return (await beta().sessions.events.list(id, { limit: 1000 })).data.map(({ type }) => type);
}

const items = async (id: string) => (await work().list(environment)).data.filter(({ data }) => data.id === id);

test("the official worker runs the tools of a session on its own machine", async () => {
  const file = await toFile(
    Buffer.from("---\nname: greet\ndescription: Greets.\n---\nGreet the heron.\n"),
    "greet/SKILL.md",
  );
  const skill = await beta().skills.create({ files: [file], display_name: "Greeting" });
  const id = await session({ tools: [allow], skills: [{ type: "custom", skill_id: skill.id }] });
  stage.rehearsal.use([
    call("read", { file_path: "skills/greet/SKILL.md" }),
    call("write", { file_path: "a.txt", content: "from the model" }),
    call("bash", { command: "cat a.txt; pwd" }),
    text("Done."),
  ]);
  await stage.say(id, "Write a file.");
  const types = await serve(id);
  expect(await readFile(join(workdir, "a.txt"), "utf8")).toBe("from the model");
  expect(types.filter((type) => type.includes("tool"))).toEqual([
    "agent.tool_use",
    "user.tool_result",
    "agent.tool_use",
    "user.tool_result",
    "agent.tool_use",
    "user.tool_result",
  ]);
  const events = (await beta().sessions.events.list(id)).data;
  const uses = events.filter((event) => event.type === "agent.tool_use");
  expect(uses.map(({ name, input }) => [name, input])).toEqual([
    ["read", { file_path: "skills/greet/SKILL.md" }],
    ["write", { file_path: "a.txt", content: "from the model" }],
    ["bash", { command: "cat a.txt; pwd" }],
  ]);
  const request = JSON.stringify(stage.rehearsal.requests.at(-1)?.body);
  for (const told of [workdir, "Greet the heron.", "another machine", "skills/greet/SKILL.md (a skill"]) {
    expect(request).toContain(told);
  }
  expect(request).not.toContain('"name":"Bash"');
});

test("a session waits for a worker, and each call is answered once", async () => {
  const id = await session();
  stage.rehearsal.use([call("bash", { command: "true" }), text("Done.")]);
  const stream = await beta().sessions.events.stream(id);
  await stage.say(id, "Run it.");
  const events = await collectUntil(stream, requiresAction);
  const [use] = ofType(events, "agent.tool_use");
  expect(use).toMatchObject({ name: "bash", evaluated_permission: "allow" });
  expect(ofType(events, "session.status_idle")[0]!.stop_reason).toEqual({
    type: "requires_action",
    event_ids: [use!.id],
  });
  expect(await work().stats(environment)).toMatchObject({ depth: 1, pending: 0, workers_polling: 0 });
  const result = (said: string) =>
    beta().sessions.events.send(id, {
      events: [{ type: "user.tool_result", tool_use_id: use!.id, content: [{ type: "text", text: said }] }],
    });
  const rest = await beta().sessions.events.stream(id);
  const first = await result("first");
  await collectUntil(rest, endsTurn);
  // A repeated answer is the same one; another answer is refused.
  expect((await result("first")).data).toMatchObject([{ id: first.data?.[0]?.id }]);
  await expect(result("second")).rejects.toBeInstanceOf(BadRequestError);
});

test("a call that needs approval reaches the worker after it", async () => {
  const ask = {
    type: "agent_toolset_20260401" as const,
    default_config: { permission_policy: { type: "always_ask" as const } },
  };
  const id = await session({ tools: [ask] });
  stage.rehearsal.use([
    call("bash", { command: "echo no > denied.txt" }),
    call("bash", { command: "echo yes > allowed.txt" }),
    text("Done."),
  ]);
  await stage.say(id, "Run it.");
  const served = serve(id);
  const answer = async (name: string, confirmation: { result: "allow" } | { result: "deny" }) => {
    const asked = async () =>
      (await beta().sessions.events.list(id, { limit: 1000 })).data.find(
        (event) => event.type === "agent.tool_use" && JSON.stringify(event.input).includes(name),
      )?.id;
    await expect.poll(asked).toBeTruthy();
    const tool_use_id = (await asked())!;
    await beta().sessions.events.send(id, {
      events: [{ type: "user.tool_confirmation", tool_use_id, ...confirmation }],
    });
  };
  await answer("denied.txt", { result: "deny" });
  await answer("allowed.txt", { result: "allow" });
  const types = (await served).filter((type) => /\.tool_(use|result|confirmation)$/.test(type));
  expect(types).toEqual([
    "agent.tool_use",
    "user.tool_confirmation",
    "agent.tool_result",
    "agent.tool_use",
    "user.tool_confirmation",
    "user.tool_result",
  ]);
  expect(await readFile(join(workdir, "allowed.txt"), "utf8")).toBe("yes\n");
  await expect(readFile(join(workdir, "denied.txt"))).rejects.toThrow(/ENOENT/);
});

test("leases: an item that is not acknowledged or beaten goes to the next worker, and the former one gets 412", async () => {
  const id = await session();
  stage.rehearsal.use([text("Hello.")]);
  const stream = await beta().sessions.events.stream(id);
  await stage.say(id, "Hello");
  await collectUntil(stream, endsTurn);
  const { work: own } = worker(environmentKey).beta.environments;
  const at = { environment_id: environment };
  const first = await own.poll(environment, { block_ms: 999, "Anthropic-Worker-ID": "one" });
  expect(first).toMatchObject({
    type: "work",
    state: "queued",
    data: { type: "session", id },
    secret: expect.any(String),
  });
  expect(await own.poll(environment, { block_ms: 1 })).toBeNull();
  expect(await own.stats(environment)).toMatchObject({ depth: 0, pending: 1, workers_polling: 1 });
  // Not acknowledged: another worker takes it.
  const again = await own.poll(environment, { reclaim_older_than_ms: 0, "Anthropic-Worker-ID": "two" });
  expect(again?.id).toBe(first!.id);
  const tokenOf = (secret: string) =>
    (JSON.parse(Buffer.from(secret, "base64url").toString()) as { sessions_token: string }).sessions_token;
  expect(await statusOf(worker(tokenOf(first!.secret!)).beta.sessions.retrieve(id))).toBe(401);
  const client = worker(tokenOf(again!.secret!));
  expect((await own.ack(first!.id, at)).state).toBe("starting");
  const beat = (expected_last_heartbeat: string) =>
    client.beta.environments.work.heartbeat(first!.id, { ...at, expected_last_heartbeat });
  const one = await beat("NO_HEARTBEAT");
  expect(one).toMatchObject({ type: "work_heartbeat", lease_extended: true, state: "active", ttl_seconds: 90 });
  const two = await beat(one.last_heartbeat);
  const lost = await beat(one.last_heartbeat).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(BetaHeartbeatPreconditionFailedError);
  expect(lost).toMatchObject({
    status: 412,
    details: {
      error_code: "heartbeat_precondition_failed",
      current_state: { last_heartbeat: two.last_heartbeat, lease_extended: false, state: "active", ttl_seconds: 90 },
    },
  });
  expect((await own.update(first!.id, { ...at, metadata: { host: "a" } })).metadata).toEqual({ host: "a" });
  expect((await work().stop(first!.id, at)).state).toBe("stopping");
  expect(await beat("anything")).toMatchObject({ state: "stopping" });
  // A message for the session meanwhile needs another item.
  stage.rehearsal.use([text("Again.")]);
  const next = await beta().sessions.events.stream(id);
  await stage.say(id, "Again");
  await collectUntil(next, endsTurn);
  expect((await client.beta.environments.work.stop(first!.id, { ...at, force: true })).state).toBe("stopped");
  expect(await statusOf(client.beta.environments.work.heartbeat(first!.id, at))).toBe(401);
  await expect(own.stop(first!.id, { ...at, force: true })).rejects.toBeInstanceOf(ConflictError);
  expect((await items(id)).map(({ state }) => state)).toEqual(["queued", "stopped"]);
});

test("an interrupt closes the call for the worker, too", async () => {
  const id = await session();
  stage.rehearsal.use([call("bash", { command: "true" }), text("Never.")]);
  const stream = await beta().sessions.events.stream(id);
  await stage.say(id, "Run it.");
  const [use] = ofType(await collectUntil(stream, requiresAction), "agent.tool_use");
  const rest = await beta().sessions.events.stream(id);
  await beta().sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
  const [closed] = ofType(await collectUntil(rest, endsTurn), "user.tool_result");
  expect(closed).toMatchObject({ tool_use_id: use!.id, is_error: true, tandem: { interrupted: "interrupt" } });
  const late = { type: "user.tool_result" as const, tool_use_id: use!.id, content: [] };
  await expect(beta().sessions.events.send(id, { events: [late] })).rejects.toBeInstanceOf(BadRequestError);
});

test("a session token reaches the memory stores of its session", async () => {
  const [own, readOnly, foreign] = [
    await beta().memoryStores.create({ name: "notes" }),
    await beta().memoryStores.create({ name: "rules" }),
    await beta().memoryStores.create({ name: "others" }),
  ];
  const resources = [
    { type: "memory_store" as const, memory_store_id: own.id },
    { type: "memory_store" as const, memory_store_id: readOnly.id, access: "read_only" as const },
  ];
  const id = await session(undefined, { resources });
  expect((await beta().sessions.retrieve(id)).resources).toMatchObject([
    { mount_path: "/mnt/memory/notes" },
    { mount_path: "/mnt/memory/rules" },
  ]);
  stage.rehearsal.use([text("Hello.")]);
  await stage.say(id, "Hello");
  const polled = await worker(environmentKey).beta.environments.work.poll(environment, { block_ms: 999 });
  const secret = JSON.parse(Buffer.from(polled!.secret!, "base64url").toString()) as { sessions_token: string };
  const { memories } = worker(secret.sessions_token).beta.memoryStores;
  const made = await memories.create(own.id, { path: "/a.md", content: "one" });
  await memories.update(made.id, { memory_store_id: own.id, content: "two" });
  expect((await memories.list(own.id)).data).toHaveLength(1);
  await memories.delete(made.id, { memory_store_id: own.id });
  expect(await statusOf(memories.list(readOnly.id))).toBe(200);
  expect(await statusOf(memories.create(readOnly.id, { path: "/a.md", content: "one" }))).toBe(403);
  expect(await statusOf(memories.list(foreign.id))).toBe(403);
  expect(await statusOf(worker(environmentKey).beta.memoryStores.memories.list(own.id))).toBe(403);
});

test("keys and session tokens reach their own environment and session only", async () => {
  const [id, other] = [await session(), await session()];
  const elsewhere = await stage.session();
  stage.rehearsal.use([text("Hello."), text("Hello.")]);
  for (const each of [id, other]) await stage.say(each, "Hello");
  const polled = await worker(environmentKey).beta.environments.work.poll(environment, { block_ms: 999 });
  const secret = JSON.parse(Buffer.from(polled!.secret!, "base64url").toString()) as { sessions_token: string };
  const [own, neighbour] = polled!.data.id === id ? [id, other] : [other, id];
  const foreign = (await beta().environments.create({ name: "theirs", config: { type: "self_hosted" } })).id;
  const message = { events: [{ type: "user.message" as const, content: [{ type: "text" as const, text: "Hi" }] }] };
  const at = { environment_id: environment };
  const statuses = async (token: string) => {
    const { beta: theirs } = worker(token);
    return {
      poll: await statusOf(theirs.environments.work.poll(environment)),
      retrieve: await statusOf(theirs.environments.work.retrieve(polled!.id, at)),
      ownSession: await statusOf(theirs.sessions.retrieve(own)),
      ownEvents: await statusOf(theirs.sessions.events.list(own)),
      neighbour: await statusOf(theirs.sessions.retrieve(neighbour)),
      message: await statusOf(theirs.sessions.events.send(own, message)),
      otherEnvironment: await statusOf(theirs.environments.work.poll(foreign)),
      localSession: await statusOf(theirs.sessions.retrieve(elsewhere)),
      sessions: await statusOf(theirs.sessions.list()),
      agents: await statusOf(theirs.agents.list()),
      archive: await statusOf(theirs.sessions.archive(own)),
      environment: await statusOf(theirs.environments.retrieve(environment)),
      files: await statusOf(theirs.files.list()),
    };
  };
  const closed = {
    otherEnvironment: 403,
    localSession: 403,
    sessions: 403,
    agents: 403,
    archive: 403,
    environment: 403,
    files: 403,
    message: 403,
  };
  const open = { retrieve: 200, ownSession: 200, ownEvents: 200 };
  expect(await statuses(secret.sessions_token)).toEqual({ ...closed, ...open, poll: 403, neighbour: 403 });
  const { id: keyId, secret: second } = await key(environment, "second");
  expect(await statuses(second)).toEqual({ ...closed, ...open, poll: 200, neighbour: 200 });
  await stage.client.delete(`/v1/environments/${environment}/keys/${keyId}`);
  expect(await statusOf(worker(second).beta.environments.work.stats(environment))).toBe(401);
  const listed = await stage.client.get<{ data: object[] }>(`/v1/environments/${environment}/keys`);
  expect(JSON.stringify(listed)).not.toContain("sk-ant-oat01");
  expect(JSON.stringify(await stage.client.get("/v1/tokens"))).not.toContain("worker");
});

test("the server refuses unsupported requests for a self-hosted environment with 400", async () => {
  const change = beta().environments.update(environment, { config: { type: "cloud" } });
  await expect(change).rejects.toMatchObject({ status: 400, details: { error_code: "invalid_config_type_change" } });
  expect(
    (await beta().environments.update(environment, { name: "renamed", config: { type: "self_hosted" } })).config,
  ).toEqual({
    type: "self_hosted",
  });
  const placed = beta().environments.create({
    name: "x",
    config: { type: "self_hosted" },
    metadata: { "tandem.path": stage.folder },
  });
  await expect(placed).rejects.toThrow(/their own folder/);
  const file = await beta().files.upload({ file: new File(["x"], "x.txt") });
  const resources = [{ type: "file" as const, file_id: file.id }];
  await expect(session({}, { resources })).rejects.toThrow(/memory stores only/);
  const forked = stage.client.post(`/v1/sessions/${await stage.session()}/fork`, {
    body: { environment_id: environment },
  });
  await expect(forked).rejects.toThrow(/self-hosted/);
});

test("without a self-hosted environment, the poller and the worker end with the server's sentence", async () => {
  const local = { environmentId: "env_local", environmentKey: stage.server.secret };
  const poll = async () => {
    for await (const _ of work().poller(local));
  };
  await expect(poll()).rejects.toThrow(/not self-hosted/);
  await expect(
    work()
      .worker({ ...local, workdir })
      .run(),
  ).rejects.toThrow(/not self-hosted/);
  const refusal = await work()
    .stats("env_local")
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(BadRequestError);
  expect((refusal as BadRequestError).headers?.get("x-should-retry")).toBe("false");
  await expect(work().stats("env_none")).rejects.toBeInstanceOf(NotFoundError);
  await expect(work().retrieve("work_none", { environment_id: environment })).rejects.toBeInstanceOf(NotFoundError);
});

test("addresses of other APIs name the one that is here", async () => {
  for (const path of [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/embeddings",
    "/v1/complete",
    "/agui",
    "/.well-known/agent-card.json",
  ]) {
    const answer = stage.client.post(path, { body: {} });
    await expect(answer).rejects.toBeInstanceOf(NotFoundError);
    await expect(answer).rejects.toThrow(/(\/v1\/|\/acp)/);
  }
});
