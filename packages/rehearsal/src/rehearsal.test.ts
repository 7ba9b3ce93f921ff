import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import {
  always,
  cutConnection,
  malformedStream,
  overloaded,
  planLimit,
  promptTooLong,
  rateLimited,
  redactedThinking,
  refusal,
  reply,
  slowly,
  stallBeforeFirstByte,
  stallMidStream,
  startRehearsal,
  text,
  thinking,
  times,
  toolUse,
  when,
} from "./index.ts";

const ask = (prompt: string) => ({
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: prompt }],
});

function clientOf(url: string, timeout = 5000) {
  return new Anthropic({ baseURL: url, apiKey: "made-up", maxRetries: 0, timeout, logLevel: "off" });
}

describe("replies, read by the official client", () => {
  const full = reply(
    [
      thinking("Let me see.", "sig"),
      redactedThinking("xyz"),
      text("I will look."),
      toolUse("look", { at: ["a b", 1] }, { id: "toolu_1" }),
    ],
    {
      usage: {
        input_tokens: 3,
        output_tokens: 7,
        cache_read_input_tokens: 11,
        cache_creation: { ephemeral_5m_input_tokens: 13, ephemeral_1h_input_tokens: 17 },
        server_tool_use: { web_search_requests: 2 },
      },
    },
  );

  test("a message is the same streamed and not", async () => {
    await using rehearsal = await startRehearsal([full, full]);
    const client = clientOf(rehearsal.url);
    const plain = await client.messages.create(ask("go"));
    const streamed = await client.messages.stream(ask("go")).finalMessage();
    for (const message of [plain, streamed]) {
      expect(message.model).toBe("claude-sonnet-5-5");
      expect(message.stop_reason).toBe("tool_use");
      expect(message.content).toMatchObject([
        { type: "thinking", thinking: "Let me see.", signature: "sig" },
        { type: "redacted_thinking", data: "xyz" },
        { type: "text", text: "I will look." },
        { type: "tool_use", id: "toolu_1", name: "look", input: { at: ["a b", 1] } },
      ]);
      expect(message.usage).toMatchObject({
        input_tokens: 3,
        output_tokens: 7,
        cache_read_input_tokens: 11,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 13, ephemeral_1h_input_tokens: 17 },
        server_tool_use: { web_search_requests: 2 },
      });
    }
    expect(plain.id).not.toBe(streamed.id);
    rehearsal.assertDone();
  });

  test("the stream has the events of the real API, in order", async () => {
    await using rehearsal = await startRehearsal([text("one two")]);
    const events: string[] = [];
    const stream = await clientOf(rehearsal.url).messages.create({ ...ask("go"), stream: true });
    for await (const event of stream) events.push(event.type);
    expect(events).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("text survives the split into tokens, with any spaces", async () => {
    const odd = "  two  spaces\n\nlines\tand 日本語 \n";
    await using rehearsal = await startRehearsal([text(odd), text(" \n"), text("")]);
    const client = clientOf(rehearsal.url);
    const texts = [];
    for (let i = 0; i < 3; i++) {
      const { content } = await client.messages.stream(ask("go")).finalMessage();
      texts.push(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
    }
    expect(texts).toEqual([odd, " \n", ""]);
  });

  test("a refusal is a message with that stop reason", async () => {
    await using rehearsal = await startRehearsal([refusal()]);
    expect(await clientOf(rehearsal.url).messages.create(ask("go"))).toMatchObject({
      stop_reason: "refusal",
      content: [],
    });
  });
});

describe("scripts", () => {
  test("each request takes the first remaining entry that matches", async () => {
    await using rehearsal = await startRehearsal([
      always(when((request) => request.lastUserText.includes("title"), text("A title"))),
      text("first"),
      when(
        ({ lastUserText }) => lastUserText === "odd",
        (request) => text(`echo ${request.lastUserText}`),
      ),
      times(2, text("later")),
    ]);
    const client = clientOf(rehearsal.url);
    const answers = [];
    for (const prompt of ["a", "title please", "b", "odd", "c", "title again"]) {
      const { content } = await client.messages.create(ask(prompt));
      answers.push(content[0]?.type === "text" ? content[0].text : undefined);
    }
    expect(answers).toEqual(["first", "A title", "later", "echo odd", "later", "A title"]);
    expect(rehearsal.requests[3]?.answeredBy).toBe("script entry 3 (message)");
    rehearsal.assertDone();
  });

  test("a request without a matching reply fails, naming it and the expected ones", async () => {
    await using rehearsal = await startRehearsal([
      when((request) => request.toolNames.includes("search"), text("found")),
    ]);
    const failure = clientOf(rehearsal.url).messages.create(ask("What is the weather?"));
    await expect(failure).rejects.toThrow(/400.*What is the weather\?.*toolNames\.includes/s);
    expect(rehearsal.misses).toHaveLength(1);
    expect(() => rehearsal.assertDone()).toThrow(/What is the weather.*Never asked for: entry 1/s);
  });

  test("a function script answers, or misses with undefined", async () => {
    await using rehearsal = await startRehearsal((request) => (request.model === "m" ? text("yes") : undefined));
    const client = clientOf(rehearsal.url);
    expect(await client.messages.create({ ...ask("x"), model: "m" })).toMatchObject({ content: [{ text: "yes" }] });
    await expect(client.messages.create(ask("x"))).rejects.toThrow(/gave no reply/);
  });

  test("a script that throws is a miss, not a server error that callers would retry", async () => {
    await using rehearsal = await startRehearsal(() => {
      throw new Error("a slip in the script");
    });
    await expect(clientOf(rehearsal.url).messages.create(ask("x"))).rejects.toThrow(/400.*a slip in the script/s);
    expect(() => rehearsal.assertDone()).toThrow(/a slip in the script/);
  });

  test("use() replaces the script and clears the requests", async () => {
    await using rehearsal = await startRehearsal([]);
    const client = clientOf(rehearsal.url);
    await expect(client.messages.create(ask("x"))).rejects.toThrow(/script is empty/);
    rehearsal.use([text("new")]);
    expect(rehearsal.requests).toEqual([]);
    expect(rehearsal.misses).toEqual([]);
    await client.messages.create(ask("y"));
    expect(rehearsal.modelRequests.map((request) => request.lastUserText)).toEqual(["y"]);
    rehearsal.assertDone();
  });
});

test("received requests can be asserted", async () => {
  await using rehearsal = await startRehearsal([text("ok")]);
  await clientOf(rehearsal.url).messages.create({
    ...ask("x"),
    system: [
      { type: "text", text: "You are terse." },
      { type: "text", text: "Be kind." },
    ],
    tools: [{ name: "look", description: "Looks.", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "hello" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "gone" }], is_error: true },
          { type: "text", text: "<system-reminder>cwd</system-reminder>go on" },
        ],
      },
    ],
  });
  await rehearsal.waitForRequest((request) => request.finished);
  expect(rehearsal.modelRequests[0]).toMatchObject({
    dialect: "anthropic",
    method: "POST",
    path: "/v1/messages",
    model: "claude-sonnet-5-5",
    maxTokens: 100,
    stream: false,
    system: "You are terse.\n\nBe kind.",
    toolNames: ["look"],
    lastUserText: "go on",
    toolResults: [{ toolUseId: "t1", text: "gone", isError: true }],
    headers: { authorization: "Bearer made-up" },
    status: 200,
    closedEarly: false,
  });
});

test("reports a port in use", async () => {
  await using rehearsal = await startRehearsal([]);
  const port = Number(new URL(rehearsal.url).port);
  await expect(startRehearsal([], { port, proxy: true })).rejects.toMatchObject({
    code: "port_taken",
    message: `Port ${port} is taken.`,
  });
});

test("models, token counts and probes are answered and are not model requests", async () => {
  await using rehearsal = await startRehearsal([], { models: [{ id: "claude-x", displayName: "Claude X" }] });
  const client = clientOf(rehearsal.url);
  expect((await client.models.list()).data).toMatchObject([{ id: "claude-x", display_name: "Claude X" }]);
  expect((await client.messages.countTokens(ask("some words"))).input_tokens).toBeGreaterThan(0);
  expect((await fetch(rehearsal.url, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${rehearsal.url}/nowhere`)).status).toBe(404);
  expect(rehearsal.requests.map((request) => request.answeredBy)).toEqual([
    "models",
    "count_tokens",
    "probe",
    "not_found",
  ]);
  expect(rehearsal.modelRequests).toEqual([]);
});

describe("faults", () => {
  test.each([
    ["rateLimited", rateLimited({ retryAfterSeconds: 7 }), 429, "rate_limit_error", { "retry-after": "7" }],
    ["overloaded", overloaded(), 529, "overloaded_error", {}],
    ["promptTooLong", promptTooLong(), 400, "invalid_request_error", {}],
    [
      "planLimit",
      planLimit({ resetsAt: new Date(2_000_000_000_000) }),
      429,
      "rate_limit_error",
      { "anthropic-ratelimit-unified-reset": "2000000000", "anthropic-ratelimit-unified-status": "rejected" },
    ],
  ])("%s is an API error", async (_name, fault, status, type, headers) => {
    await using rehearsal = await startRehearsal([fault]);
    const error = await clientOf(rehearsal.url)
      .messages.create(ask("x"))
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, error: { type: "error", error: { type } } });
    for (const [name, value] of Object.entries(headers)) expect((error as APIError).headers?.get(name)).toBe(value);
  });

  test.each([true, false])(
    "a stall before the first byte sends nothing until the caller hangs up (stream %s)",
    async (stream) => {
      await using rehearsal = await startRehearsal([stallBeforeFirstByte()]);
      const abort = new AbortController();
      const call = clientOf(rehearsal.url).messages.create({ ...ask("x"), stream }, { signal: abort.signal });
      const outcome = call.then(
        () => "answered",
        () => "aborted",
      );
      await rehearsal.waitForRequest((request) => request.answeredBy !== undefined);
      abort.abort();
      expect(await outcome).toBe("aborted");
      const request = await rehearsal.waitForRequest((request) => request.closedEarly);
      expect(request.status).toBeUndefined();
    },
  );

  test("a stall mid-stream sends its text, then nothing", async () => {
    await using rehearsal = await startRehearsal([stallMidStream("half a")]);
    const stream = clientOf(rehearsal.url).messages.stream(ask("x"));
    let seen = "";
    stream.on("text", (delta) => {
      seen += delta;
      if (seen === "half a") stream.abort();
    });
    await expect(stream.finalMessage()).rejects.toThrow(/abort/i);
    expect(seen).toBe("half a");
    await rehearsal.waitForRequest((request) => request.closedEarly);
  });

  test("a cut connection is a connection error, before and after the first bytes", async () => {
    await using rehearsal = await startRehearsal([cutConnection(), cutConnection({ afterText: "half a" })]);
    const client = clientOf(rehearsal.url);
    await expect(client.messages.create(ask("x"))).rejects.toThrow(/Connection error/);
    let seen = "";
    const stream = client.messages.stream(ask("x")).on("text", (delta) => (seen += delta));
    await expect(stream.finalMessage()).rejects.toThrow(/terminated|Connection/);
    expect(seen).toBe("half a");
    expect(rehearsal.requests.map((request) => request.closedEarly)).toEqual([false, false]);
  });

  test("a malformed stream cannot be parsed", async () => {
    await using rehearsal = await startRehearsal([malformedStream("half a")]);
    await expect(clientOf(rehearsal.url).messages.stream(ask("x")).finalMessage()).rejects.toThrow(/JSON/);
  });

  test("a slow reply waits before the first byte and before each token", async () => {
    await using rehearsal = await startRehearsal([slowly(text("one two three"), { firstByteMs: 100, tokenMs: 50 })]);
    const began = performance.now();
    const stream = clientOf(rehearsal.url).messages.stream(ask("x"));
    const times: number[] = [];
    stream.on("text", () => times.push(performance.now() - began));
    await stream.finalMessage();
    // Lower bounds only, slightly reduced, because timers are coarse.
    expect(times.map((time, index) => time >= 140 + 45 * index)).toEqual([true, true, true]);
  });

  test("a slow reply stops when the caller closes the connection", async () => {
    await using rehearsal = await startRehearsal([slowly(text("word ".repeat(10_000)), { tokenMs: 5 })]);
    const stream = clientOf(rehearsal.url).messages.stream(ask("x"));
    stream.once("text", () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(/abort/i);
    const request = await rehearsal.waitForRequest((request) => request.closedEarly);
    expect(request.finished).toBe(false);
  });

  test("close() ends stalled connections at once", async () => {
    const rehearsal = await startRehearsal([stallBeforeFirstByte(), stallMidStream()]);
    const calls = [false, true].map((stream) =>
      clientOf(rehearsal.url)
        .messages.create({ ...ask("x"), stream })
        .then(
          () => "answered",
          () => "cut",
        ),
    );
    await rehearsal.waitForRequest(() => rehearsal.requests.filter((request) => request.answeredBy).length === 2);
    await rehearsal.close();
    expect(await calls[0]).toBe("cut");
    await expect(fetch(rehearsal.url)).rejects.toThrow(/fetch failed/);
  });

  test("waiting for a missing request ends at its deadline", async () => {
    await using rehearsal = await startRehearsal([]);
    await expect(rehearsal.waitForRequest(() => true, 20)).rejects.toThrow(/within 20 ms/);
  });
});
