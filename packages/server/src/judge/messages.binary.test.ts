import { APIError, BadRequestError, RateLimitError } from "@anthropic-ai/sdk";
import { configSchema } from "@tandem/protocol";
import { always, fail, rateLimited, stallMidStream, text, toolUse, unauthorized } from "@tandem/rehearsal";
import { createMessagesProxy } from "@tandem/runtime";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

const KEY = "sk-ant-made-up-upstream";
const request = {
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello." }],
};

/** The settings of `llm`, chosen by each test. */
let provider: object;
let connected = 0;
const stage = await setJudgeStage({
  engine: () => ({
    messages: async () => {
      connected += 1;
      const { llm } = configSchema.parse({ llm: provider });
      return createMessagesProxy(llm, { readSecret: async () => KEY });
    },
  }),
});
const client = stage.client.withOptions({ maxRetries: 0 });
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => {
  provider = { provider: { backend: "anthropic", anthropic: { baseUrl: stage.rehearsal.url } } };
});

const budgets = async () => {
  const response = await stage.server.request("/v1/budgets");
  return ((await response.json()) as { data: { scope: string; unit: string; spent: number }[] }).data;
};
const spentToday = async (unit: string) =>
  (await budgets()).find((gauge) => gauge.scope === "day" && gauge.unit === unit)?.spent ?? 0;
const failure = async (call: PromiseLike<unknown>): Promise<APIError> => {
  const error: unknown = await Promise.resolve(call).then(
    () => new Error("It worked."),
    (cause: unknown) => cause,
  );
  if (error instanceof APIError) return error;
  throw error;
};

describe("with an API key", () => {
  test("create passes body and answer through, with Tandem's own key, and counts the cost", async () => {
    stage.rehearsal.use([text("Hi.", { usage: { input_tokens: 1_000, output_tokens: 100 } })]);
    const [usd, tokens] = [await spentToday("usd"), await spentToday("tokens")];
    const answer = await client.beta.messages.create({ ...request, betas: ["some-beta-2026-01-01"] });
    expect(answer.content).toMatchObject([{ type: "text", text: "Hi." }]);
    const [received] = stage.rehearsal.requests;
    expect(received!.body).toEqual(request);
    expect(received!.headers).toMatchObject({ "x-api-key": KEY, "anthropic-beta": "some-beta-2026-01-01" });
    const sent = JSON.stringify(received!.headers);
    expect(sent).not.toContain(stage.server.secret);
    expect(sent).not.toContain("x-stainless");
    // 1,000 input tokens at 2 dollars and 100 output tokens at 10 dollars per million.
    expect((await spentToday("usd")) - usd).toBeCloseTo(0.003, 6);
    expect((await spentToday("tokens")) - tokens).toBe(1_100);
  });

  test("the audit log has the call without its content", async () => {
    stage.rehearsal.use([text("Private answer.")]);
    await client.messages.create({ ...request, messages: [{ role: "user", content: "Private question." }] });
    const entries = await stage.server.request("/v1/audit?kinds[]=model.called&order=desc&limit=1");
    const written = await entries.text();
    expect(written).toContain('"model":"claude-sonnet-5-5"');
    expect(written).not.toContain("Private");
  });

  test("an alias is resolved, and tools pass", async () => {
    stage.rehearsal.use([toolUse("weather", { city: "Bern" })]);
    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const answer = await client.messages.create({ ...request, model: "sonnet", tools });
    expect(answer).toMatchObject({ stop_reason: "tool_use", model: "claude-sonnet-5-5" });
    expect(answer.content).toMatchObject([{ type: "tool_use", name: "weather", input: { city: "Bern" } }]);
  });

  test("a stream passes, and its usage is counted", async () => {
    const usage = { input_tokens: 500, output_tokens: 50 };
    stage.rehearsal.use([text("One two three four five.", { usage })]);
    const tokens = await spentToday("tokens");
    const stream = client.messages.stream(request);
    expect(await stream.finalText()).toBe("One two three four five.");
    expect((await stream.finalMessage()).usage).toMatchObject(usage);
    await expect.poll(async () => (await spentToday("tokens")) - tokens).toBe(550);
  });

  test("countTokens", async () => {
    const tokens = await spentToday("tokens");
    const { max_tokens: _, ...counted } = request;
    expect((await client.messages.countTokens(counted)).input_tokens).toBeGreaterThan(0);
    expect((await client.beta.messages.countTokens(counted)).input_tokens).toBeGreaterThan(0);
    expect(await spentToday("tokens")).toBe(tokens);
  });

  test("errors keep status, body, retry-after and request id, and cost nothing", async () => {
    const usd = await spentToday("usd");
    stage.rehearsal.use([
      rateLimited({ retryAfterSeconds: 7 }),
      fail(400, { message: "max_tokens: too many", headers: { "request-id": "req_upstream" } }),
    ]);
    const limited = await failure(client.messages.create(request));
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited.headers?.get("retry-after")).toBe("7");
    const bad = await failure(client.messages.create(request));
    expect(bad).toMatchObject({ status: 400, requestID: "req_upstream" });
    expect(bad.message).toContain("max_tokens: too many");
    expect(await spentToday("usd")).toBeCloseTo(usd, 9);
  });

  test("a rejected key is the server's trouble, is not shown, and is read again", async () => {
    stage.rehearsal.use([unauthorized(), text("Again.")]);
    const before = connected;
    const error = await failure(client.messages.create(request));
    expect(error.status).toBe(503);
    expect(JSON.stringify(error.error)).not.toContain(KEY);
    await client.messages.create(request);
    expect(connected).toBe(before + 1);
  });

  test("a Claude login is refused with the reason and the setting, and no other credential is tried", async () => {
    stage.rehearsal.use([unauthorized()]);
    // The rejected key is not kept.
    await failure(client.messages.create(request));
    provider = { provider: { backend: "claude-code" } };
    const error = await failure(stage.client.messages.create(request));
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(error.message).toContain("a Claude login only works in Claude Code. Set llm.provider.backend");
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect((await failure(client.messages.countTokens(request))).status).toBe(400);
    expect(stage.rehearsal.requests).toHaveLength(1);
  });

  test("deltas arrive before the end; a client that leaves ends the request upstream, and what it got is counted", async () => {
    stage.rehearsal.use([stallMidStream("Some words and then nothing.")]);
    const tokens = await spentToday("tokens");
    const stream = client.messages.stream(request);
    await new Promise((resolve) => stream.once("text", resolve));
    stream.abort();
    await expect(stream.finalMessage()).rejects.toThrow("aborted");
    await expect.poll(() => stage.rehearsal.requests).toMatchObject([{ closedEarly: true }]);
    // Until then the most that it could have cost is counted.
    await expect.poll(async () => (await spentToday("tokens")) - tokens).toBeLessThan(100);
    expect((await spentToday("tokens")) - tokens).toBeGreaterThan(5);
  });

  test("a used-up limit refuses before anything is sent", async () => {
    const limit = (limits: object) =>
      stage.server.request("/v1/budgets", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ scope: "day", limits }),
      });
    stage.rehearsal.use([always(text("Hi."))]);
    expect((await limit({ usd: (await spentToday("usd")) + 0.000_5 })).status).toBe(200);
    const error = await failure(stage.client.messages.create(request));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.message).toContain("All sessions of the day used");
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(stage.rehearsal.requests).toEqual([]);
    // Fewer tokens fit, and counting is free.
    await client.messages.create({ ...request, max_tokens: 1 });
    await limit({});
  });

  test("nothing is sent while everything is stopped", async () => {
    const post = (path: string) =>
      stage.server.request(path, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    stage.rehearsal.use([always(text("Hi."))]);
    await post("/v1/stop");
    expect(await failure(client.messages.create(request))).toMatchObject({ status: 409 });
    expect(stage.rehearsal.requests).toEqual([]);
    await post("/v1/resume");
    await client.messages.create(request);
  });

  test("a body without a model or JSON, and batches, are refused", async () => {
    const post = (body: string) =>
      stage.server.request("/v1/messages", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect((await post("{}")).status).toBe(400);
    expect((await post("{")).status).toBe(400);
    const batch = client.messages.batches.create({ requests: [{ custom_id: "a", params: request }] });
    expect((await failure(batch)).message).toContain("no batches");
  });
});
