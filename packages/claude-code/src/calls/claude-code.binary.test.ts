import type { LlmErrorCode } from "@tandem/protocol";
import {
  always,
  creditTooLow,
  cutConnection,
  forbidden,
  madeUpLogin,
  malformedStream,
  modelNotFound,
  overloaded,
  planLimit,
  promptTooLong,
  refusal,
  serverError,
  slowly,
  text,
  toolUse,
  unauthorized,
  type Reply,
} from "@tandem/rehearsal";
import { getEventListeners } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { call, eventually, failure, runningProcesses, setStage } from "../testing/claude-stage.ts";

const stage = await setStage();
// One process for all calls: a pool with more starts spares.
const claude = stage.claude({ pool: { size: 1, maxCalls: 1_000, maxMemoryMb: 2_000 } });
afterAll(() => stage[Symbol.asyncDispose]());

describe("text calls", () => {
  test("use the login: its token, and no API key, reaches Anthropic's host", async () => {
    stage.rehearsal.use([text("hello")]);
    expect(await claude.text(call())).toBe("hello");
    const [request] = stage.rehearsal.modelRequests;
    expect(request).toMatchObject({ host: "api.anthropic.com", lastUserText: "Say hello." });
    expect(request!.headers.authorization).toMatch(/^Bearer /);
    expect(request!.headers["x-api-key"]).toBeUndefined();
    expect(request!.toolNames).toEqual([]);
    const other = stage.rehearsal.requests.filter(({ path }) => !path.startsWith("/v1/messages"));
    expect(
      other.map(({ path }) => path).filter((path) => path !== "/api/oauth/profile"),
      "quiet",
    ).toEqual([]);
  });

  test("refresh a rejected token once, invisibly to the caller", async () => {
    stage.rehearsal.use([unauthorized(), text("renewed")]);
    expect(await claude.text(call())).toBe("renewed");
    expect(stage.rehearsal.requests.filter(({ path }) => path === "/v1/oauth/token")).toHaveLength(1);
  });

  test.each(["/clear", "/usage", "/help me", "@note.md"])("sends %s as text, not as a command", async (prompt) => {
    await writeFile(join(stage.stateFolder, "neutral", "note.md"), "not to be sent");
    stage.rehearsal.use([text("as text")]);
    expect(await claude.text(call({ prompt }))).toBe("as text");
    expect(stage.rehearsal.modelRequests[0]!.lastUserText.endsWith(prompt)).toBe(true);
    expect(JSON.stringify(stage.rehearsal.modelRequests[0]!.body)).not.toContain("not to be sent");
  });

  test("join all text blocks of the answer", async () => {
    stage.rehearsal.use([{ ...text("one "), content: [...text("one ").content, ...text("two").content] }]);
    expect(await claude.text(call())).toBe("one two");
  });

  test("report usage with cache tokens once, for any number of blocks", async () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 7,
      cache_read_input_tokens: 4_000,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
    };
    stage.rehearsal.use([
      { ...text("a", { usage }), content: [...text("a").content, ...text("b").content, ...text("c").content] },
    ]);
    const asked = call({ model: "claude-sonnet-5-5" });
    await claude.text(asked);
    expect(asked.used).toEqual([
      [
        "claude-sonnet-5-5",
        {
          inputTokens: 10,
          outputTokens: 7,
          cacheReadTokens: 4_000,
          cacheWrite5mTokens: 200,
          cacheWrite1hTokens: 100,
          webSearches: 0,
        },
      ],
    ]);
  });
});

describe("typed errors", () => {
  const cases: [string, Reply, LlmErrorCode][] = [
    ["a refused token", unauthorized(), "auth_rejected"],
    ["a forbidden organisation", forbidden(), "auth_rejected"],
    ["no credit", creditTooLow(), "billing"],
    ["an unknown model", modelNotFound("claude-nope"), "unknown_model"],
    ["a prompt that is too long", promptTooLong(), "prompt_too_long"],
    ["an overloaded API", overloaded(), "overloaded"],
    ["a failing API", serverError(), "server_error"],
    ["a cut connection", cutConnection(), "network"],
    ["a connection cut in mid-answer", cutConnection({ afterText: "Once upon" }), "network"],
    ["a stream that is none", malformedStream(), "server_error"],
    ["a refusal", refusal(), "refused"],
    ["an answer cut at its limit", text("too lo", { stopReason: "max_tokens" }), "max_tokens"],
    ["an empty answer", { ...text(""), content: [] }, "empty_answer"],
  ];
  // The runtime's contract verifies all codes. In `npm test`, one of each kind shows that no other model is tried, and
  // that the next call succeeds: with a rejected credential, an API error, a broken stream and a rejected answer.
  const kinds = new Set(["a refused token", "an overloaded API", "a connection cut in mid-answer", "a refusal"]);
  test.each(cases.filter(([name]) => inject("soak") || kinds.has(name)))("%s", async (_, reply, code) => {
    stage.rehearsal.use([always(reply)]);
    const error = await failure(claude.text(call()));
    expect({ code: error.code, message: error.message }).toMatchObject({ code });
    expect(error.message).not.toMatch(/undefined|\[object/);
    const models = new Set(stage.rehearsal.modelRequests.map((request) => request.model));
    expect([...models], "no other model is tried").toEqual(["claude-sonnet-5-5"]);
    stage.rehearsal.use([always(text("well again"))]);
    expect(await claude.text(call()), "the instance stays usable").toBe("well again");
  });

  test("a used-up plan carries its reset time", async () => {
    const resetsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
    stage.rehearsal.use([always(planLimit({ resetsAt }))]);
    expect(await failure(claude.text(call()))).toMatchObject({ code: "rate_limited", resetsAt, status: 429 });
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
  });

  test("a missing login fails without a request, even with a stray API key; a login made later is used by the next call", async () => {
    await using loggedOut = await setStage([always(text("at last"))], { loggedIn: false });
    const stray = {
      ANTHROPIC_API_KEY: "sk-ant-stray",
      ANTHROPIC_AUTH_TOKEN: "stray",
      ANTHROPIC_BASE_URL: loggedOut.rehearsal.url,
    };
    const waiting = loggedOut.claude({ hostVariables: { ...loggedOut.hostVariables, ...stray } });
    const error = await failure(waiting.text(call()));
    expect(error.code).toBe("not_logged_in");
    expect(error.fix).toContain("tandem login");
    expect(loggedOut.rehearsal.modelRequests).toEqual([]);
    const { accessToken } = await madeUpLogin(loggedOut.configDir);
    expect(await waiting.text(call())).toBe("at last");
    expect(loggedOut.rehearsal.modelRequests[0]!.headers.authorization).toBe(`Bearer ${accessToken}`);
  });

  test("a dead process is reported with the end of its stderr", async () => {
    const script = join(stage.home, "dying.sh");
    await writeFile(script, "#!/bin/sh\necho first words >&2\necho last words >&2\nexit 3\n", { mode: 0o755 });
    const error = await failure(stage.claude({ executable: script }).text(call()));
    expect(error).toMatchObject({ code: "process_died", message: expect.stringContaining("first words | last words") });
  });

  test("an answer that was cut and continued is not returned as complete", async () => {
    stage.rehearsal.use([text("PART ONE", { stopReason: "max_tokens" }), always(text("part two"))]);
    expect((await failure(claude.text(call()))).code).toBe("max_tokens");
  });

  test("a model that calls unavailable tools is told once, then the call fails", async () => {
    stage.rehearsal.use([toolUse("Bash", {}), text("then without")]);
    expect(await claude.text(call())).toBe("then without");
    stage.rehearsal.use([
      always({ ...text("Let me look."), content: [...text("Let me look.").content, ...toolUse("Bash").content] }),
    ]);
    expect((await failure(claude.text(call()))).code).toBe("empty_answer");
    expect(stage.rehearsal.modelRequests).toHaveLength(2);
  });

  test("an unwritable ledger starts no process and leaves nothing behind", async () => {
    await using broken = await setStage([always(text("never"))]);
    const doomed = broken.claude();
    await rm(join(broken.stateFolder, "processes"), { recursive: true });
    const error = await failure(doomed.text(call()));
    expect(error).toMatchObject({ code: "process_died", transient: false });
    expect(error.fix).not.toBe("");
    expect(broken.rehearsal.modelRequests).toEqual([]);
  });
});

describe("object calls", () => {
  const object = (overrides = {}) => ({
    ...call(overrides),
    jsonSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    check: (value: unknown) => {
      const parsed = z.object({ n: z.number().max(9) }).safeParse(value);
      return parsed.success ? undefined : z.prettifyError(parsed.error);
    },
  });
  const answer = (input: object): Reply => toolUse("mcp__tandem__answer", input);

  test("take one request", async () => {
    stage.rehearsal.use([answer({ n: 1 })]);
    expect(await claude.object(object())).toEqual({ n: 1 });
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
    expect(stage.rehearsal.modelRequests[0]!.toolNames).toEqual(["mcp__tandem__answer"]);
  });

  test("return a schema violation to the model once, with the error", async () => {
    stage.rehearsal.use([answer({ n: 99 }), answer({ n: 2 })]);
    expect(await claude.object(object())).toEqual({ n: 2 });
    const [result] = stage.rehearsal.modelRequests[1]!.toolResults;
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining("<=9") });
  });

  test.each([
    ["two invalid objects", [answer({ n: 99 }), answer({ n: 98 })]],
    ["text twice", [text("no"), text("still no")]],
    ["text, then an invalid object", [text("no"), answer({ n: 99 })]],
    ["an unknown tool, then an invalid object", [toolUse("Bash", { command: "true" }), answer({ n: 99 })]],
  ])("fail with a typed error after %s, after at most two requests", async (_, replies) => {
    stage.rehearsal.use(replies);
    expect((await failure(claude.object(object()))).code).toBe("structured_output");
    stage.rehearsal.assertDone();
  });

  test("recover from a first answer in plain text", async () => {
    stage.rehearsal.use([text("It is one."), answer({ n: 1 })]);
    expect(await claude.object(object())).toEqual({ n: 1 });
  });
});

describe("abort", () => {
  test("returns within a second, and kills the process", async () => {
    stage.rehearsal.use([slowly(text("a long story ".repeat(200)), { tokenMs: 50 })]);
    const controller = new AbortController();
    const running = failure(claude.text(call({ signal: controller.signal })));
    await stage.rehearsal.waitForModelRequest(() => true, 60_000);
    const before = await runningProcesses(stage);
    const since = performance.now();
    controller.abort();
    expect((await running).code).toBe("aborted");
    expect(performance.now() - since).toBeLessThan(1_000 * inject("slowness"));
    await eventually(
      () => stage.rehearsal.modelRequests[0]!.closedEarly,
      (closed) => closed,
    );
    await eventually(
      () => runningProcesses(stage),
      (now) => now.length < before.length,
    );
  });

  test("works at any moment, leaves no listener behind, and keeps the instance usable", async () => {
    stage.rehearsal.use([always(text("hello"))]);
    expect(await claude.text(call()), "after the abort of the test before").toBe("hello");
    // Each abort of a running turn ends its process.
    for (const ticks of inject("soak") ? Array.from({ length: 16 }, (_, tick) => tick) : [0, 1, 2, 4, 7, 12]) {
      const controller = new AbortController();
      const running = claude.text(call({ signal: controller.signal })).catch((error: unknown) => error);
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      controller.abort();
      expect(await running, `after ${ticks} ticks`).toMatchObject({ code: "aborted" });
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    }
  });
});
