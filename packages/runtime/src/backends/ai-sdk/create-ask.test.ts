import { createServer, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listenOnLoopback, raw, slowly, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { configSchema, type CallReport } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { vertexFixture } from "../../contract/fixtures.ts";
import { Stage } from "../../contract/runtime-stage.ts";
import { verifyObjects } from "../../contract/verify-objects.ts";
import { createRuntime } from "../../create-runtime.ts";
import { defineTool } from "../../tool.ts";
import { anthropic } from "./anthropic.ts";
import { createAiSdkBackend } from "./create-ai-sdk-backend.ts";

const ask = { role: "default", prompt: "Go." } as const;

function runtimeAt(baseUrl: string, limits: object = {}) {
  const config = configSchema.parse({ llm: { provider: { backend: "anthropic" }, limits } }).llm;
  const reports: CallReport[] = [];
  const backend = createAiSdkBackend(anthropic({ apiKey: "made-up", baseUrl }), config);
  return { runtime: createRuntime({ config, backend, sink: (report) => void reports.push(report) }), reports };
}

const event = (data: { type: string; [field: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** A streamed answer with a given id. */
function answer(id: string, block: object): string[] {
  const usage = { input_tokens: 10, output_tokens: 1 };
  return [
    event({
      type: "message_start",
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-5-5",
        content: [],
        stop_reason: null,
        usage,
      },
    }),
    event({ type: "content_block_start", index: 0, content_block: block }),
    event({ type: "content_block_stop", index: 0 }),
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    event({ type: "message_stop" }),
  ];
}

describe("deadlines", () => {
  it("do not fire for a slow but active answer", async () => {
    const words = "one two three four five six seven eight";
    await using rehearsal = await startRehearsal([slowly(text(words), { tokenMs: 150 })]);
    const { runtime } = runtimeAt(rehearsal.url, { idle: "600ms", attempts: 1 });
    expect(await runtime.generateText(ask)).toBe(words);
  });

  it("treat pings as activity", async () => {
    const [start, ...rest] = answer("msg_1", { type: "text", text: "" });
    const delta = event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "At last." } });
    const answerSlowly = async (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(start);
      for (let n = 0; n < 8; n += 1) {
        await delay(150);
        response.write(event({ type: "ping" }));
      }
      response.end([rest[0], delta, ...rest.slice(1)].join(""));
    };
    await using slow = await listenOnLoopback(createServer((_request, response) => void answerSlowly(response)));
    const { runtime } = runtimeAt(slow.url, { idle: "600ms", attempts: 1 });
    expect(await runtime.generateText(ask)).toBe("At last.");
  });
});

it("counts an answer once that is delivered twice", async () => {
  const body = answer("msg_same", { type: "tool_use", id: "toolu_1", name: "look", input: {} }).join("");
  const delivered = raw(200, { "content-type": "text/event-stream" }, body);
  await using rehearsal = await startRehearsal([delivered, delivered]);
  const { runtime, reports } = runtimeAt(rehearsal.url);
  const look = defineTool({
    name: "look",
    description: "",
    schema: z.object({}),
    execute: async () => ({ markdown: "" }),
  });
  const result = await runtime.runAgentLoop({ ...ask, tools: [look], stepBudget: 2 });
  expect(result).toMatchObject({ stopReason: "budget", steps: 2 });
  expect(reports[0]?.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
});

it("counts the usage of a broken answer in addition to its replacement", async () => {
  const [start] = answer("msg_cut", { type: "text", text: "" });
  const cut = raw(200, { "content-type": "text/event-stream" }, start!);
  const failed = `${start}${event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}`;
  const refused = raw(200, { "content-type": "text/event-stream" }, failed.replace("msg_cut", "msg_refused"));
  await using rehearsal = await startRehearsal([cut, refused, text("Bern.", { usage: { input_tokens: 7 } })]);
  const { runtime, reports } = runtimeAt(rehearsal.url);
  expect(await runtime.generateText(ask)).toBe("Bern.");
  expect(reports[0]?.usage).toMatchObject({ inputTokens: 10 + 10 + 7, outputTokens: 1 + 1 + 5 });
});

it("reports a prompt that leaves no room for the answer as too long", async () => {
  await using rehearsal = await startRehearsal([text("Well", { stopReason: "model_context_window_exceeded" })]);
  await expect(runtimeAt(rehearsal.url).runtime.generateText(ask)).rejects.toMatchObject({ code: "prompt_too_long" });
});

it("runs no tool of a truncated answer", async () => {
  let ran = false;
  const look = defineTool({
    name: "look",
    description: "",
    schema: z.object({}),
    execute: async () => ((ran = true), { markdown: "" }),
  });
  await using rehearsal = await startRehearsal([toolUse("look", {}, { stopReason: "max_tokens" })]);
  const result = await runtimeAt(rehearsal.url).runtime.runAgentLoop({ ...ask, tools: [look], stepBudget: 2 });
  expect(result).toMatchObject({ stopReason: "error", error: { code: "max_tokens" } });
  expect(ran).toBe(false);
});

it("reports a temperature that the model does not take", async () => {
  await using rehearsal = await startRehearsal([text("Bern.")]);
  const { runtime, reports } = runtimeAt(rehearsal.url);
  await runtime.generateText({ ...ask, temperature: 0 });
  expect(rehearsal.modelRequests[0]?.body).not.toHaveProperty("temperature");
  expect(reports[0]?.ignored).toEqual([{ key: "temperature", why: expect.stringContaining("not supported") }]);
});

describe("a model that returns objects only through a tool", () => {
  const older = { ...vertexFixture, model: "claude-sonnet-4-5@20250929" };
  it.each(Object.entries(verifyObjects))("also verifies %s", async (_id, verify) => {
    await using stage = await Stage.open(older);
    await verify(stage);
    expect(stage.rehearsal.modelRequests.every(({ toolNames }) => toolNames.includes("json"))).toBe(true);
  });
});

it("accepts a base URL with and without its version", async () => {
  await using rehearsal = await startRehearsal([text("a"), text("b")]);
  for (const baseUrl of [`${rehearsal.url}/`, `${rehearsal.url}/v1`]) {
    await runtimeAt(baseUrl).runtime.generateText(ask);
  }
  expect(rehearsal.modelRequests.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/messages"]);
});
