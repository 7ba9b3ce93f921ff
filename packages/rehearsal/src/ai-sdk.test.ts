import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGateway } from "@ai-sdk/gateway";
import { createGoogleVertexAnthropic } from "@ai-sdk/google-vertex/anthropic";
import type { LanguageModel } from "ai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { DialectName, Rehearsal, Reply } from "./index.ts";
import {
  cutConnection,
  failMidStream,
  fail,
  malformedStream,
  object,
  overloaded,
  promptTooLong,
  rateLimited,
  redactedThinking,
  refusal,
  replayScript,
  reply,
  stallMidStream,
  startRecording,
  startRehearsal,
  text,
  thinking,
  toolUse,
  unauthorized,
} from "./index.ts";

beforeAll(() => void vi.stubGlobal("AI_SDK_LOG_WARNINGS", false));
afterAll(() => void vi.unstubAllGlobals());

const providers: Record<DialectName, (rehearsal: Pick<Rehearsal, "providerUrls">) => LanguageModel> = {
  anthropic: ({ providerUrls }) =>
    createAnthropic({ baseURL: providerUrls.anthropic, apiKey: "made-up" })("claude-sonnet-5-5"),
  vertex: ({ providerUrls }) =>
    createGoogleVertexAnthropic({ baseURL: providerUrls.vertex, generateAuthToken: async () => "made-up" })(
      "claude-sonnet-5-5",
    ),
  gateway: ({ providerUrls }) =>
    createGateway({ baseURL: providerUrls.gateway, apiKey: "made-up" })("anthropic/claude-sonnet-5-5"),
};

describe.each(Object.keys(providers) as DialectName[])("the AI SDK's %s provider", (dialect) => {
  async function start(script: Parameters<typeof startRehearsal>[0]) {
    const rehearsal = await startRehearsal(script);
    return {
      rehearsal,
      call: { model: providers[dialect](rehearsal), maxRetries: 0 },
      [Symbol.asyncDispose]: () => rehearsal.close(),
    };
  }

  const look = tool({
    description: "Looks.",
    inputSchema: jsonSchema<{ at: string }>({ type: "object", properties: { at: { type: "string" } } }),
    execute: async ({ at }) => `saw ${at}`,
  });

  const usage = {
    input_tokens: 3,
    output_tokens: 7,
    cache_read_input_tokens: 11,
    cache_creation: { ephemeral_1h_input_tokens: 13 },
  };

  test("reads the same message, streamed and not", async () => {
    const full = reply([thinking("Hm.", "sig"), redactedThinking("xyz"), text("Two words.")], { usage });
    await using stage = await start([full, full]);
    const plain = await generateText({ ...stage.call, system: "You are terse.", prompt: "go" });
    const streamed = streamText({ ...stage.call, system: "You are terse.", prompt: "go" });
    const pieces: string[] = [];
    for await (const piece of streamed.textStream) pieces.push(piece);
    expect(pieces).toEqual(["Two", " words."]);
    for (const result of [
      plain,
      {
        text: await streamed.text,
        usage: await streamed.usage,
        reasoning: await streamed.reasoning,
        finishReason: await streamed.finishReason,
      },
    ]) {
      expect(result.text).toBe("Two words.");
      expect(result.finishReason).toBe("stop");
      expect(result.reasoning).toMatchObject([
        { text: "Hm.", providerMetadata: { anthropic: { signature: "sig" } } },
        { text: "", providerMetadata: { anthropic: { redactedData: "xyz" } } },
      ]);
      expect(result.usage).toMatchObject({
        inputTokens: 27,
        outputTokens: 7,
        inputTokenDetails: { noCacheTokens: 3, cacheReadTokens: 11, cacheWriteTokens: 13 },
      });
    }
    expect(stage.rehearsal.modelRequests).toMatchObject([
      { dialect, system: "You are terse.", lastUserText: "go", stream: false, toolNames: [] },
      { dialect, system: "You are terse.", lastUserText: "go", stream: true, toolNames: [] },
    ]);
    expect(stage.rehearsal.modelRequests[0]?.model).toMatch(/^(anthropic\/)?claude-sonnet-5-5$/);
    expect(stage.rehearsal.modelRequests[0]?.headers.authorization ?? "Bearer made-up").toBe("Bearer made-up");
    stage.rehearsal.assertDone();
  });

  test.each([false, true])("runs a tool loop (streamed %s)", async (stream) => {
    await using stage = await start([
      reply([
        text("I look."),
        toolUse("look", { at: "a b" }, { id: "t1" }),
        toolUse("look", { at: "c" }, { id: "t2" }),
      ]),
      text("Done."),
    ]);
    const options = { ...stage.call, prompt: "go", tools: { look }, stopWhen: stepCountIs(3) };
    expect(stream ? await streamText(options).text : (await generateText(options)).text).toBe("Done.");
    const [first, second] = stage.rehearsal.modelRequests;
    expect(first?.tools).toMatchObject([{ name: "look", description: "Looks.", inputSchema: { type: "object" } }]);
    expect(second?.toolResults).toEqual([
      { toolUseId: "t1", text: "saw a b", isError: false },
      { toolUseId: "t2", text: "saw c", isError: false },
    ]);
    expect(second?.messages.at(-2)?.content).toMatchObject([
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "look", input: { at: "a b" } },
      { type: "tool_use", id: "t2", name: "look", input: { at: "c" } },
    ]);
    stage.rehearsal.assertDone();
  });

  test("gets an object in the requested way", async () => {
    await using stage = await start([object({ city: "Bern" })]);
    const schema = jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    });
    const { output } = await generateText({ ...stage.call, prompt: "go", output: Output.object({ schema }) });
    expect(output).toEqual({ city: "Bern" });
  });

  test("recognises a refusal and an answer at the output limit", async () => {
    await using stage = await start([refusal("No."), text("cut off", { stopReason: "max_tokens" })]);
    expect((await generateText({ ...stage.call, prompt: "go" })).finishReason).toBe("content-filter");
    expect((await generateText({ ...stage.call, prompt: "go" })).finishReason).toBe("length");
  });

  test.each<[string, Reply, number]>([
    ["unauthorized", unauthorized(), 401],
    ["forbidden", fail(403), 403],
    ["rateLimited", rateLimited({ retryAfterSeconds: 7 }), 429],
    ["overloaded", overloaded(), 529],
    ["fail(500)", fail(500), 500],
  ])("sees %s", async (_name, fault, status) => {
    await using stage = await start([fault]);
    const error = await generateText({ ...stage.call, prompt: "go" }).catch((error: unknown) => error);
    expect(statusOf(error)).toBe(status);
  });

  test("is told what was wrong with the request", async () => {
    await using stage = await start([promptTooLong(210, 200)]);
    await expect(generateText({ ...stage.call, prompt: "go" })).rejects.toThrow("210 tokens > 200 maximum");
  });

  test.each<[string, Reply]>([
    ["cutConnection", cutConnection({ afterText: "half a" })],
    ["malformedStream", malformedStream("half a")],
    ["failMidStream", failMidStream("half a")],
  ])("handles %s in mid-stream", async (_name, fault) => {
    await using stage = await start([fault]);
    const errors: unknown[] = [];
    const result = streamText({ ...stage.call, prompt: "go", onError: ({ error }) => void errors.push(error) });
    let seen = "";
    try {
      for await (const piece of result.textStream) seen += piece;
    } catch (error) {
      errors.push(error);
    }
    expect(seen).toBe("half a");
    expect(errors).not.toEqual([]);
  });

  test("closes a stalled connection", async () => {
    await using stage = await start([stallMidStream("half a")]);
    const abort = new AbortController();
    const result = streamText({ ...stage.call, prompt: "go", abortSignal: abort.signal });
    let seen = "";
    for await (const piece of result.textStream) {
      seen += piece;
      if (seen === "half a") abort.abort();
    }
    expect((await stage.rehearsal.waitForRequest((request) => request.closedEarly)).status).toBe(200);
  });

  test("can be recorded and replayed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "recording-"));
    const file = join(folder, "run.jsonl");
    const act = async (stage: Pick<Rehearsal, "providerUrls">) => {
      const model = providers[dialect](stage);
      return [
        (await generateText({ model, maxRetries: 0, prompt: "one" })).text,
        await streamText({ model, maxRetries: 0, prompt: "two" }).text,
      ];
    };
    try {
      await using upstream = await startRehearsal([text("first"), text("second answer")]);
      await using recording = await startRecording({ upstream: upstream.url, file });
      const recorded = await act(recording);
      await recording.close();
      await using rehearsal = await startRehearsal(replayScript(file));
      expect(await act(rehearsal)).toEqual(recorded);
      rehearsal.assertDone();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("is told about a miss", async () => {
    await using stage = await start([]);
    await expect(generateText({ ...stage.call, prompt: "What now?" })).rejects.toThrow(/No reply.*What now\?/);
  });
});

test("serves the gateway's list of models", async () => {
  await using rehearsal = await startRehearsal([], { models: [{ id: "claude-x", displayName: "Claude X" }] });
  const gateway = createGateway({ baseURL: rehearsal.providerUrls.gateway, apiKey: "made-up" });
  expect((await gateway.getAvailableModels()).models).toMatchObject([{ id: "anthropic/claude-x", name: "Claude X" }]);
});

test("gives a Google service account its token", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await using rehearsal = await startRehearsal([text("on Google's account")], { proxy: ["oauth2.googleapis.com"] });
  const { variables, caFile } = rehearsal.proxy;
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY: variables.HTTPS_PROXY }, ca: readFileSync(caFile) });
  const vertex = createGoogleVertexAnthropic({
    baseURL: rehearsal.providerUrls.vertex,
    googleAuthOptions: {
      credentials: {
        client_email: "rehearsal@example.com",
        private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      },
      clientOptions: { transporterOptions: { agent } },
    },
  });
  expect((await generateText({ model: vertex("claude-sonnet-5-5"), prompt: "go" })).text).toBe("on Google's account");
  expect(rehearsal.requests.map(({ answeredBy }) => answeredBy)).toEqual(["google token", "script entry 1 (message)"]);
  expect(rehearsal.modelRequests[0]?.headers.authorization).toMatch(/^Bearer made-up-google-token/);
});

/** The AI SDK wraps the status of a rejected gateway key in its own error. */
function statusOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  if ("statusCode" in error) return error.statusCode;
  return "name" in error && error.name === "GatewayAuthenticationError" ? 401 : undefined;
}
