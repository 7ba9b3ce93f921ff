import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, inject, test } from "vitest";
import type { Rehearsal, Reply } from "@tandem/rehearsal";
import {
  always,
  badRequest,
  creditTooLow,
  cutConnection,
  fail,
  madeUpLogin,
  malformedStream,
  overloaded,
  planLimit,
  promptTooLong,
  rateLimited,
  redactedThinking,
  refusal,
  reply,
  serverError,
  startRehearsal,
  text,
  thinking,
  unauthorized,
} from "@tandem/rehearsal";

/** A scratch home for one run of Claude Code. */
async function scratchHome() {
  const root = await mkdtemp(join(tmpdir(), "claude-"));
  const [home, config, cwd] = [join(root, "home"), join(root, "config"), join(root, "cwd")];
  for (const folder of [home, config, cwd]) await mkdir(folder);
  return {
    config,
    cwd,
    variables: { PATH: process.env["PATH"] ?? "", HOME: home, CLAUDE_CONFIG_DIR: config, TMPDIR: root },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

type Home = Awaited<ReturnType<typeof scratchHome>>;

/** Runs one isolated text call; returns the messages and the error thrown by the SDK. */
async function run(home: Home, credential: Record<string, string>) {
  const messages: SDKMessage[] = [];
  let thrown: unknown;
  try {
    const env = {
      ...home.variables,
      ...credential,
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
    };
    const options = {
      cwd: home.cwd,
      env,
      model: "claude-sonnet-5-5",
      systemPrompt: "You are terse.",
      effort: "low" as const,
      settingSources: [],
      skills: [],
      plugins: [],
      tools: [],
      mcpServers: {},
      strictMcpConfig: true,
      persistSession: false,
      permissionMode: "dontAsk" as const,
      settings: { autoMemoryEnabled: false },
      extraArgs: { restricted: null },
      maxTurns: 1,
      verbatimPrompts: true,
    };
    for await (const message of query({ prompt: "Say hello.", options })) messages.push(message);
  } catch (error) {
    thrown = error;
  }
  const result = messages.findLast((message) => message.type === "result");
  return { messages, result, thrown };
}

function withKey(rehearsal: Rehearsal) {
  return { ANTHROPIC_API_KEY: "made-up", ANTHROPIC_BASE_URL: rehearsal.url };
}

test("Claude Code uses the scripted answer with an API key and a base URL", async () => {
  await using home = await scratchHome();
  await using rehearsal = await startRehearsal([
    reply([thinking("Hm.", "sig"), redactedThinking(), text("Hello from the script.")], {
      usage: { input_tokens: 20, output_tokens: 9, cache_read_input_tokens: 400, cache_creation_input_tokens: 50 },
    }),
  ]);
  const { result, thrown } = await run(home, withKey(rehearsal));
  expect(thrown).toBeUndefined();
  expect(result).toMatchObject({
    subtype: "success",
    is_error: false,
    result: "Hello from the script.",
    usage: { input_tokens: 20, output_tokens: 9, cache_read_input_tokens: 400, cache_creation_input_tokens: 50 },
  });
  expect(rehearsal.modelRequests[0]).toMatchObject({ lastUserText: "Say hello.", toolNames: [], stream: true });
  expect(rehearsal.modelRequests[0]?.system).toContain("You are terse.");
  rehearsal.assertDone();
});

// Only another release of Claude Code changes the rest. Calls and sessions that meet these faults are tested elsewhere.
describe.runIf(inject("soak"))("with a fake login", () => {
  test("Claude Code uses the scripted answer with a fake login, through the proxy", async () => {
    await using home = await scratchHome();
    await using rehearsal = await startRehearsal([text("Hello, subscriber.")], { proxy: true });
    const login = await madeUpLogin(home.config);
    const { messages, result } = await run(home, rehearsal.proxy.variables);
    expect(messages.find((message) => message.type === "system" && message.subtype === "init")).toMatchObject({
      apiKeySource: "none",
    });
    expect(result).toMatchObject({ is_error: false, result: "Hello, subscriber." });
    expect(rehearsal.modelRequests[0]).toMatchObject({
      host: "api.anthropic.com",
      headers: { authorization: `Bearer ${login.accessToken}` },
    });
    expect(rehearsal.refused).toEqual([]);
    rehearsal.assertDone();
  });

  test("an expired login is refreshed, and a rejected refresh logs out", async () => {
    await using rehearsal = await startRehearsal([text("Refreshed.")], { proxy: true });
    const expired = { expiresAt: new Date(Date.now() - 60_000) };
    await using granted = await scratchHome();
    const old = await madeUpLogin(granted.config, expired);
    expect((await run(granted, rehearsal.proxy.variables)).result).toMatchObject({ result: "Refreshed." });
    const stored = await readFile(old.file, "utf8");
    expect(stored).not.toContain(old.accessToken);
    expect(rehearsal.modelRequests[0]?.headers.authorization).toMatch(/^Bearer sk-ant-oat01-made-up/);

    rehearsal.use([], { refresh: "invalid_grant" });
    await using refused = await scratchHome();
    await madeUpLogin(refused.config, expired);
    expect((await run(refused, rehearsal.proxy.variables)).result).toMatchObject({ is_error: true });
    expect(rehearsal.requests.map((request) => request.path)).toEqual(["/v1/oauth/token"]);
  });

  test("a plan's limit is reported with its reset time", async () => {
    await using home = await scratchHome();
    const resetsAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 7_200_000);
    await using rehearsal = await startRehearsal([planLimit({ resetsAt })], { proxy: true });
    await madeUpLogin(home.config);
    const { messages, result } = await run(home, rehearsal.proxy.variables);
    expect(messages.find((message) => message.type === "rate_limit_event")).toMatchObject({
      rate_limit_info: { status: "rejected", resetsAt: resetsAt.getTime() / 1000, rateLimitType: "five_hour" },
    });
    expect(result).toMatchObject({ is_error: true, api_error_status: 429 });
    expect(rehearsal.modelRequests).toHaveLength(1);
  });
});

describe.runIf(inject("soak"))("Claude Code classifies each simulated fault correctly", () => {
  type Fault = [name: string, fault: Reply, expected: { error: string; status: number | null }];
  const faults: Fault[] = [
    ["unauthorized", unauthorized(), { error: "authentication_failed", status: 401 }],
    ["overloaded", overloaded(), { error: "server_error", status: 529 }],
    ["cutConnection", cutConnection(), { error: "server_error", status: null }],
    ["badRequest", badRequest(), { error: "unknown", status: 400 }],
    ["creditTooLow", creditTooLow(), { error: "billing_error", status: 400 }],
    ["promptTooLong", promptTooLong(), { error: "invalid_request", status: 400 }],
    ["rateLimited", rateLimited(), { error: "rate_limit", status: 429 }],
    ["serverError", serverError(), { error: "server_error", status: 500 }],
    ["fail(413)", fail(413), { error: "invalid_request", status: 413 }],
    ["malformedStream", malformedStream(), { error: "unknown", status: null }],
    ["refusal", refusal(), { error: "invalid_request", status: null }],
  ];
  test.each(faults)("%s", async (_name, fault, expected) => {
    await using home = await scratchHome();
    await using rehearsal = await startRehearsal([always(fault)]);
    const { messages, result, thrown } = await run(home, withKey(rehearsal));
    const error = messages.findLast((message) => message.type === "assistant")?.error;
    expect({ error, status: result?.subtype === "success" ? result.api_error_status : undefined }).toEqual(expected);
    expect(result).toMatchObject({ is_error: true });
    expect(String(thrown)).toContain("Claude Code returned an error result");
  });
});
