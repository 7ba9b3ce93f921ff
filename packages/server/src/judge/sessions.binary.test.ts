import Anthropic, { BadRequestError, ConflictError, NotFoundError, toFile } from "@anthropic-ai/sdk";
import { text } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { startLossyProxy } from "../testing/lossy-proxy.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const sessions = () => stage.client.beta.sessions;

test("create returns the whole session", async () => {
  const agent = await stage.agent({ system: "Be brief." });
  const session = await sessions().create({
    agent: { type: "agent", id: agent, version: 1 },
    environment_id: "env_local",
    title: "A title",
    metadata: { ticket: "7" },
    budget: { type: "limit", max_list_cost: { amount: "2500", currency: "USD" } },
  });
  expect(session).toMatchObject({
    type: "session",
    id: expect.stringMatching(/^sesn_/),
    status: "idle",
    agent: { id: agent, version: 1, system: "Be brief.", multiagent: null },
    environment_id: "env_local",
    title: "A title",
    metadata: { ticket: "7" },
    resources: [],
    vault_ids: [],
    budget: { max_list_cost: { amount: "2500" } },
    usage: { input_tokens: 0, output_tokens: 0, list_cost: { amount: "0", currency: "USD" } },
    outcome_evaluations: [],
    archived_at: null,
  });
  expect(await sessions().retrieve(session.id)).toEqual({ ...session, stats: expect.any(Object) });
});

test("create with overrides and with first messages", async () => {
  stage.rehearsal.use([text("Done already.")]);
  const agent = await stage.agent();
  const session = await sessions().create({
    agent: { type: "agent_with_overrides", id: agent, system: "Another." },
    environment_id: "env_local",
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Go." }] }],
  });
  expect(session.agent.system).toBe("Another.");
  const types = async (): Promise<string[]> => {
    const found = [];
    for await (const { type } of sessions().events.list(session.id)) found.push(type);
    return found;
  };
  await expect.poll(types).toEqual(expect.arrayContaining(["user.message", "agent.message", "session.status_idle"]));
  expect((await sessions().retrieve(session.id)).usage.output_tokens).toBeGreaterThan(0);
});

test("update merges, and notifies the stream", async () => {
  const session = await stage.session({ metadata: { a: "1", b: "2" } });
  const stream = await sessions().events.stream(session);
  const updated = await sessions().update(session, { title: "New", metadata: { a: null, c: "3" } });
  expect(updated).toMatchObject({ title: "New", metadata: { b: "2", c: "3" } });
  const events = await collectUntil(stream, ({ type }) => type === "session.updated");
  expect(events.at(-1)).toMatchObject({ title: "New", metadata: { b: "2", c: "3" } });
});

describe("list", () => {
  test("goes in both directions and filters", async () => {
    const agent = await stage.agent();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(await stage.session({ agent }));
    const collect = async (query: object): Promise<string[]> => {
      const ids = [];
      for await (const { id } of sessions().list({ agent_id: agent, limit: 2, ...query })) ids.push(id);
      return ids;
    };
    expect(await collect({})).toEqual(made.toReversed());
    expect(await collect({ order: "asc" })).toEqual(made);
    expect(await collect({ statuses: ["running", "rescheduling"] })).toEqual([]);
    expect(await collect({ statuses: ["idle"], agent_version: 1 })).toHaveLength(5);
    const first = await sessions().list({ agent_id: agent, limit: 2 });
    const second = await sessions().list({ agent_id: agent, limit: 2, page: first.next_page! });
    const back = await sessions().list({ agent_id: agent, limit: 2, page: second.prev_page! });
    expect(back.data.map(({ id }) => id)).toEqual(first.data.map(({ id }) => id));
    await expect(sessions().list({ page: "stale" })).rejects.toThrow(BadRequestError);
  });
});

test("archive ends a session and keeps it; delete removes it", async () => {
  stage.rehearsal.use([text("Hello.")]);
  const session = await stage.session();
  const stream = await sessions().events.stream(session);
  await stage.say(session, "Hello?");
  await collectUntil(stream, endsTurn);
  const archived = await sessions().archive(session);
  expect(archived).toMatchObject({ status: "terminated", archived_at: expect.any(String) });
  await expect(stage.say(session, "Still there?")).rejects.toThrow(BadRequestError);
  const events = await sessions().events.list(session);
  expect(events.data.map(({ type }) => type)).toContain("session.status_terminated");

  const watching = await sessions().events.stream(session);
  expect(await sessions().delete(session)).toEqual({ type: "session_deleted", id: session });
  const last = await collectUntil(watching, ({ type }) => type === "session.deleted");
  expect(last.filter(({ type }) => type === "session.deleted")).toHaveLength(1);
  await expect(sessions().retrieve(session)).rejects.toThrow(NotFoundError);
  await expect(sessions().events.stream(session)).rejects.toThrow(NotFoundError);
});

test("bad input gets the right error class and message", async () => {
  const agent = await stage.agent();
  const create = (params: object) => sessions().create({ agent, environment_id: "env_local", ...params });
  await expect(sessions().retrieve("sesn_nothing")).rejects.toThrow(NotFoundError);
  await expect(create({ environment_id: "env_nothing" })).rejects.toThrow(NotFoundError);
  await expect(create({ vault_ids: ["vlt_1"] })).rejects.toThrow(/no vault vlt_1/);
  await expect(create({ resources: [{ type: "memory_store", memory_store_id: "x" }] })).rejects.toThrow(
    BadRequestError,
  );
  await expect(create({ metadata: { "tandem.max_turnz": "3" } })).rejects.toThrow(/tandem\.max_turns/);
});

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe("creates whose answer is lost", () => {
  test("are made once by the client's own retries", async () => {
    await using proxy = await startLossyProxy(stage.server, 2);
    const client = new Anthropic({ apiKey: stage.server.secret, baseURL: proxy.url });
    const before = (await all(stage.client.beta.agents.list())).length;
    const agent = await client.beta.agents.create({ name: "lost", model: "sonnet" });
    expect(await all(stage.client.beta.agents.list())).toHaveLength(before + 1);
    stage.rehearsal.use([text("Once."), text("Twice.")]);
    const requests = stage.rehearsal.requests.length;
    await using again = await startLossyProxy(stage.server, 2);
    const session = await client.withOptions({ baseURL: again.url }).beta.sessions.create({
      agent: agent.id,
      environment_id: "env_local",
      initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello" }] }],
    });
    const idle = async () => (await sessions().retrieve(session.id)).status;
    await expect.poll(idle).toBe("idle");
    const made = await all(sessions().list({ agent_id: agent.id }));
    expect(made.map(({ id }) => id)).toEqual([session.id]);
    expect(stage.rehearsal.requests.length - requests).toBe(1);
  });

  test("are made once for uploads, whose retries have another boundary", async () => {
    await using proxy = await startLossyProxy(stage.server, 1);
    const client = new Anthropic({ apiKey: stage.server.secret, baseURL: proxy.url });
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from("once"), "lost-upload.txt") });
    const files = await all(stage.client.beta.files.list());
    expect(files.filter(({ filename }) => filename === "lost-upload.txt").map(({ id }) => id)).toEqual([file.id]);
  });

  test("are made once for each Idempotency-Key, and equal creates without one are two", async () => {
    const agent = { name: "keyed", model: "sonnet" };
    const create = (key?: string, name = agent.name) =>
      stage.client.beta.agents.create({ ...agent, name }, key ? { headers: { "idempotency-key": key } } : {});
    const [first, second] = [await create("key-1"), await create("key-1")];
    expect(second).toEqual(first);
    await expect(create("key-1", "another")).rejects.toThrow(ConflictError);
    expect((await create()).id).not.toBe((await create()).id);
  });
});
