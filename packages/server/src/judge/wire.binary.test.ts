import Anthropic, {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
} from "@anthropic-ai/sdk";
import { text } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { startLossyProxy } from "../testing/lossy-proxy.ts";
import { REAL_DEADLINE_MS, type SseFrame, StreamReader } from "../testing/read-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

/** Shared by two tests: each new one starts a process. */
let session: string;
const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

describe("models", () => {
  test("are listed in the older paging style, and found by id or alias", async () => {
    const { models } = stage.client.beta;
    const ids = [];
    for await (const { id } of models.list({ limit: 1 })) ids.push(id);
    expect(ids).toEqual(["claude-sonnet-5-5", "claude-haiku-5-5"]);
    const back = await models.list({ limit: 5, before_id: "claude-haiku-5-5" });
    expect(back.data.map(({ id }) => id)).toEqual(["claude-sonnet-5-5"]);
    expect(await models.retrieve("haiku")).toMatchObject({ id: "claude-haiku-5-5", type: "model", line: "haiku" });
    await expect(models.retrieve("gpt-7")).rejects.toThrow(NotFoundError);
    expect((await stage.client.models.list()).data).toHaveLength(2);
  });
});

describe("the client", () => {
  const as = (options: object) => new Anthropic({ apiKey: null, baseURL: stage.server.url, ...options });

  test("may send its key in either header, and its own betas", async () => {
    for (const client of [as({ apiKey: stage.server.secret }), as({ authToken: stage.server.secret })]) {
      const page = await client.beta.agents.list({ betas: ["some-beta-2026-01-01"], workspace_id: "wrkspc_1" });
      expect(page.data).toEqual(expect.any(Array));
    }
  });

  test("gets the error classes that it knows, and the request's id", async () => {
    await expect(as({ apiKey: "tandem_wrong" }).beta.agents.list()).rejects.toThrow(AuthenticationError);
    const reader = as({ apiKey: await stage.server.secretFor("read") });
    await expect(reader.beta.agents.create({ name: "x", model: "sonnet" })).rejects.toThrow(PermissionDeniedError);
    const error = await stage.client.beta.sessions.retrieve("sesn_x").catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NotFoundError);
    expect((error as NotFoundError).requestID).toMatch(/^req_/);
    await expect(stage.client.beta.agents.create({ name: "x", model: "sonnet", sytem: "y" } as never)).rejects.toThrow(
      BadRequestError,
    );
  });

  test("does not retry requests that Tandem does not support", async () => {
    const { beta } = stage.client;
    const request = { model: "sonnet", max_tokens: 1, messages: [{ role: "user" as const, content: "x" }] };
    for (const [ask, refusal] of [
      [() => beta.dreams.list(), NotFoundError],
      [() => beta.messages.batches.list(), NotFoundError],
      [() => beta.environments.work.poll("env_local"), BadRequestError],
      // No backend is configured here.
      [() => beta.messages.create(request), BadRequestError],
    ] as const) {
      const before = stage.server.log.length;
      await expect(ask()).rejects.toThrow(refusal);
      await expect.poll(() => stage.server.log.length).toBe(before + 1);
    }
  });
});

describe("Tandem's own routes", () => {
  test("messages, files of the folder, tasks, usage and the feed", async () => {
    stage.rehearsal.use([text("Hello there.")]);
    const agent = await stage.agent();
    session = await stage.session({ agent });
    const stream = await stage.client.beta.sessions.events.stream(session);
    await stage.say(session, "Hello?");
    await collectUntil(stream, endsTurn);
    const read = async (path: string) => (await stage.server.request(path)).json() as Promise<{ data: unknown[] }>;
    const { data: messages } = await read(`/v1/sessions/${session}/messages`);
    expect(messages).toMatchObject([{ role: "user" }, { role: "agent" }]);
    expect(await read(`/v1/sessions/${session}/files`)).toEqual({ data: expect.any(Array) });
    expect((await stage.server.request(`/v1/sessions/${session}/files?path=../..`)).status).toBeGreaterThanOrEqual(400);
    expect(await read(`/v1/sessions/${session}/tasks`)).toEqual({ data: [] });
    const { data: usage } = await read("/v1/usage");
    const [day] = new Date().toISOString().split("T");
    expect(usage).toContainEqual({ day, agent_id: agent, sessions: 1, usd: expect.any(Number) });
    await using feed = await StreamReader.open(stage.server, "/v1/feed", {}, REAL_DEADLINE_MS);
    const { data: snapshot } = await feed.untilType("snapshot");
    expect(JSON.stringify(snapshot)).toContain(session);
    await stage.client.beta.sessions.update(session, { title: "Renamed" });
    // The turn's last change may come first.
    const isRenamed = ({ data }: SseFrame) =>
      (data?.["session"] as { title?: unknown } | undefined)?.title === "Renamed";
    const { data: changed } = await feed.until(isRenamed);
    expect(changed).toMatchObject({ type: "changed", session: { id: session, title: "Renamed", status: "idle" } });
  });
});

test("the client retries a send whose response was lost, and the message is stored once", async () => {
  stage.rehearsal.use([text("Once.")]);
  const stream = await stage.client.beta.sessions.events.stream(session);
  await using proxy = await startLossyProxy(stage.server, 2);
  const { data } = await new Anthropic({ apiKey: stage.server.secret, baseURL: proxy.url }).beta.sessions.events.send(
    session,
    {
      events: [{ type: "user.message", content: [{ type: "text", text: "Only once." }] }],
    },
  );
  await collectUntil(stream, endsTurn);
  const { data: messages } = await stage.client.beta.sessions.events.list(session, { types: ["user.message"] });
  expect(messages.slice(1).map(({ id }) => id)).toEqual(data!.map(({ id }) => id));
});
