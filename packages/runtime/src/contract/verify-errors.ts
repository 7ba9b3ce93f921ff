import type { LlmErrorCode } from "@tandem/protocol";
import { LlmError } from "@tandem/protocol";
import type { Reply } from "@tandem/rehearsal";
import {
  always,
  badRequest,
  creditTooLow,
  cutConnection,
  fail,
  failMidStream,
  forbidden,
  malformedStream,
  modelNotFound,
  overloaded,
  planLimit,
  promptTooLong,
  rateLimited,
  refusal,
  reply,
  serverError,
  stallBeforeFirstByte,
  stallMidStream,
  text,
  unauthorized,
} from "@tandem/rehearsal";
import { expect, inject } from "vitest";
import type { Wait } from "../llm-runtime.ts";
import type { Stage, Behaviours, Verify } from "./runtime-stage.ts";

const ask = { role: "default", prompt: "What is the capital of Switzerland?" } as const;
/** The longer ones are for a busy machine. */
const FIRST_BYTE = ["400ms", "2s", "10s"];
/** Includes the start of Claude Code. */
const FIRST_BYTE_WITH_START = ["4s", "20s"];

async function failureOf(call: Promise<unknown>): Promise<LlmError> {
  const outcome = await call.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(LlmError);
  const error = outcome as LlmError;
  // Every error has a message and, unless the caller aborted, a fix.
  expect(error.message.trim()).not.toBe("");
  if (error.code !== "aborted") expect(error.fix).not.toBe("");
  return error;
}

/** An error that is not retried. */
const isFinal =
  (code: LlmErrorCode, answer: Reply): Verify =>
  async (stage) => {
    // Some engines retry an empty answer by themselves.
    const { runtime, reports } = await stage.play([always(answer)]);
    expect((await failureOf(runtime.generateText(ask))).code).toBe(code);
    expect(reports).toMatchObject([{ outcome: code, attempts: 1 }]);
  };

/** An error that is retried until the attempts are used up. */
const isRepeated =
  (code: LlmErrorCode, answer: Reply, reason: Wait["reason"]): Verify =>
  async (stage) => {
    const { runtime, reports } = await stage.play([always(answer)], { limits: { attempts: 3 } });
    const waits: Wait[] = [];
    const error = await failureOf(runtime.generateText({ ...ask, onWait: (wait) => void waits.push(wait) }));
    expect(error.code).toBe(code);
    expect(stage.rehearsal.modelRequests).toHaveLength(3);
    expect(waits).toMatchObject([
      { reason, attempt: 2, until: expect.any(Date) },
      { reason, attempt: 3, until: expect.any(Date) },
    ]);
    expect(reports).toMatchObject([{ outcome: code, attempts: 3 }]);
  };

/** An error that passes on the second attempt. */
const passes =
  (...answers: Reply[]): Verify =>
  async (stage) => {
    const { runtime, reports } = await stage.play([...answers, text("Bern.")]);
    expect(await runtime.generateText(ask)).toBe("Bern.");
    expect(stage.rehearsal.modelRequests).toHaveLength(answers.length + 1);
    expect(reports).toMatchObject([{ outcome: "ok" }]);
  };

const stalls =
  (answer: Reply): Verify =>
  async (stage) => {
    for (const firstByte of stage.fixture.name === "claude-code" ? FIRST_BYTE_WITH_START : FIRST_BYTE) {
      const limits = { firstByte, idle: "400ms", attempts: 1 };
      const { runtime } = await stage.playAlone([always(answer)], { limits });
      const error = await failureOf(runtime.generateText(ask));
      expect(error.code).toBe("timeout");
      expect(error.message).toMatch(/\b(firstByte|idle)\b/);
      if (stage.rehearsal.modelRequests.length > 0) break;
    }
    await stage.rehearsal.waitForModelRequest((request) => request.closedEarly);
  };

/** Milliseconds from the abort to the end of the call. */
async function timeToEnd(
  stage: Stage,
  call: Promise<unknown>,
  end: () => unknown,
): Promise<{ error: LlmError; ms: number }> {
  await stage.rehearsal.waitForModelRequest();
  const failure = failureOf(call);
  const started = performance.now();
  await end();
  return { error: await failure, ms: performance.now() - started };
}

// One second is promised; the rest is for a busy machine.
const ABOUT_A_SECOND = 1_500 * inject("slowness");

export const verifyErrors: Behaviours = {
  "An empty answer is `empty_answer`": isFinal("empty_answer", reply([])),
  "A refusal is `refused`": isFinal("refused", refusal("I will not say.")),
  "An answer cut at the output limit is `max_tokens`": isFinal(
    "max_tokens",
    text("Bern, and", { stopReason: "max_tokens" }),
  ),
  // Prevents a bug of similar runtimes: it was reported as a broken login.
  "A prompt over the limit is `prompt_too_long`": isFinal("prompt_too_long", promptTooLong()),
  "A rejected credential (401) is `auth_rejected`": isFinal("auth_rejected", unauthorized()),
  "A credential without permission (403) is `auth_rejected`": isFinal("auth_rejected", forbidden()),
  "An account without credit is `billing`": isFinal("billing", creditTooLow()),
  "An unknown model is `unknown_model`": isFinal("unknown_model", modelNotFound("claude-sonnet-5-5")),
  "A malformed request is `invalid_request` and is not retried": isFinal("invalid_request", badRequest()),

  "Retries an overload and reports the waits; then it is `overloaded`": isRepeated(
    "overloaded",
    overloaded(),
    "overloaded",
  ),
  "A passing overload costs one attempt and nothing else": async (stage) => {
    const { runtime, reports } = await stage.play([overloaded(), text("Bern.")]);
    expect(await runtime.generateText(ask)).toBe("Bern.");
    expect(reports).toMatchObject([{ outcome: "ok", attempts: 2 }]);
    stage.rehearsal.assertDone();
  },
  "Retries a failing service; then it is `server_error`": isRepeated("server_error", serverError(), "transient"),
  "Retries a connection cut before the answer; then it is `network`": isRepeated(
    "network",
    cutConnection(),
    "transient",
  ),
  "Retries a connection cut within the answer": passes(cutConnection({ afterText: "Be" })),
  "Retries an unreadable answer": passes(malformedStream("Be")),
  "Retries an overload within the answer": passes(failMidStream("Be")),

  "A service that never answers is `timeout`": stalls(stallBeforeFirstByte()),
  "An answer that stalls is `timeout`": stalls(stallMidStream("Be")),

  "An abort ends the call within a second as `aborted`, and closes the connection": async (stage) => {
    const { runtime, reports } = await stage.play([stallMidStream("Be")]);
    const controller = new AbortController();
    const call = runtime.generateText({ ...ask, signal: controller.signal });
    const { error, ms } = await timeToEnd(stage, call, () => controller.abort());
    expect(error.code).toBe("aborted");
    expect(ms).toBeLessThan(ABOUT_A_SECOND);
    await stage.rehearsal.waitForModelRequest((request) => request.closedEarly);
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
    expect(reports).toMatchObject([{ outcome: "aborted", attempts: 1 }]);
  },

  "A call aborted before its start sends nothing": async (stage) => {
    const { runtime, reports } = await stage.play([]);
    const error = await failureOf(runtime.generateText({ ...ask, signal: AbortSignal.abort() }));
    expect(error.code).toBe("aborted");
    expect(stage.rehearsal.modelRequests).toHaveLength(0);
    expect(reports).toHaveLength(1);
  },

  "Closing the runtime ends running calls": async (stage) => {
    const { runtime, reports } = await stage.playAlone([stallBeforeFirstByte()]);
    const { error, ms } = await timeToEnd(stage, runtime.generateText(ask), () => runtime.close());
    expect(error.code).toBe("aborted");
    expect(ms).toBeLessThan(ABOUT_A_SECOND);
    expect(reports).toHaveLength(1);
  },
};

export const verifyQuotas: Behaviours = {
  "Retries a rate limit without a reset time": async (stage) => {
    const { runtime, reports } = await stage.play([fail(429), text("Bern.")]);
    expect(await runtime.generateText(ask)).toBe("Bern.");
    expect(reports).toMatchObject([{ outcome: "ok", attempts: 2 }]);
  },

  "Waits for a rate limit of a few seconds": async (stage) => {
    const { runtime, reports } = await stage.play([rateLimited({ retryAfterSeconds: 20 }), text("Bern.")]);
    expect(await runtime.generateText(ask)).toBe("Bern.");
    expect(reports).toMatchObject([{ outcome: "ok", attempts: 2 }]);
  },

  // Prevents a bug of similar runtimes: the call that met a limit was never repeated.
  "Waits for a quota that resets within patience, and repeats the call that hit it": async (stage) => {
    const resetsAt = inSeconds(120);
    const { runtime, reports } = await stage.play([planLimit({ resetsAt }), text("Bern.")], {
      limits: { patience: "5m" },
    });
    const waits: Wait[] = [];
    const answer = await runtime.generateText({ ...ask, onWait: (wait) => void waits.push(wait) });
    expect(answer).toBe("Bern.");
    expect(waits).toMatchObject([{ reason: "quota", attempt: 2 }]);
    const until = waits[0]?.until?.getTime() ?? 0;
    expect(until).toBeGreaterThanOrEqual(resetsAt.getTime());
    expect(until).toBeLessThan(resetsAt.getTime() + 5_000);
    expect(reports).toMatchObject([{ outcome: "ok", attempts: 2 }]);
    const { waitedMs = 0, latencyMs = 0 } = reports[0] ?? {};
    expect(waitedMs).toBeGreaterThan(60_000);
    expect(latencyMs).toBeGreaterThanOrEqual(waitedMs);
    stage.rehearsal.assertDone();
  },

  "A quota that resets beyond patience fails at once as `rate_limited` with the reset time": async (stage) => {
    const resetsAt = inSeconds(7_200);
    const { runtime } = await stage.play([planLimit({ resetsAt })], { limits: { patience: "5m" } });
    const error = await failureOf(runtime.generateText(ask));
    expect(error).toMatchObject({ code: "rate_limited", resetsAt });
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
  },
};

/** Resets are reported in whole seconds. */
function inSeconds(seconds: number): Date {
  return new Date((Math.floor(Date.now() / 1000) + seconds) * 1000);
}
