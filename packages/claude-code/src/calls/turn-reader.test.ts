import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { TurnReader, type TurnOutcome } from "./turn-reader.ts";

// Messages as the binary sends them, reduced to the fields that are read.
const message = (shape: object): SDKMessage => shape as unknown as SDKMessage;
const assistant = (id: string, content: object[], extra: object = {}) =>
  message({ type: "assistant", parent_tool_use_id: null, message: { id, content }, ...extra });
const result = (change: object = {}) =>
  message({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "",
    stop_reason: null,
    terminal_reason: "completed",
    modelUsage: {},
    ...change,
  });
const apiError = (error: string, change: object = {}) => [
  assistant("synthetic", [{ type: "text", text: "API Error" }], { error }),
  result({ is_error: true, terminal_reason: "api_error", result: "API Error: something", ...change }),
];

const read = (messages: SDKMessage[]): TurnOutcome => {
  const reader = new TurnReader();
  const outcomes = messages.map((each) => reader.accept(each)).filter((outcome) => outcome !== undefined);
  expect(outcomes).toHaveLength(1);
  return outcomes[0]!;
};

describe("end of a turn", () => {
  test.each([
    ["success", result(), "natural"],
    ["success without a terminal reason", result({ terminal_reason: undefined }), "natural"],
    ["error_max_turns by subtype", result({ subtype: "error_max_turns", is_error: true, errors: [] }), "budget"],
    ["max_turns by terminal reason alone", result({ terminal_reason: "max_turns" }), "budget"],
    ["max_turns by stop reason alone", result({ stop_reason: "max_turns" }), "budget"],
    ["our own step budget", result({ terminal_reason: "hook_stopped" }), "budget"],
  ])("%s", (_, message, stop) => {
    expect(read([message])).toMatchObject({ stop });
  });

  test.each([
    "blocking_limit",
    "rapid_refill_breaker",
    "prompt_too_long",
    "image_error",
    "model_error",
    "aborted_streaming",
    "aborted_tools",
    "stop_hook_prevented",
    "tool_deferred",
    "turn_setup_failed",
  ])("a success with terminal reason %s is an error", (terminal_reason) => {
    expect(read([result({ terminal_reason })])).toMatchObject({ error: { name: "LlmError" } });
  });

  test("treats a success with is_error as an error", () => {
    expect(read([result({ is_error: true, result: "odd" })])).toMatchObject({ error: { code: "server_error" } });
  });

  test.each([
    ["authentication_failed", { result: "Not logged in · Please run /login" }, "not_logged_in"],
    [
      "authentication_failed",
      { result: "Failed to authenticate: OAuth session expired and could not be refreshed" },
      "not_logged_in",
    ],
    ["authentication_failed", { result: "Failed to authenticate. API Error: 401" }, "auth_rejected"],
    ["oauth_org_not_allowed", { api_error_status: 403 }, "auth_rejected"],
    ["billing_error", { api_error_status: 400 }, "billing"],
    ["unknown", { api_error_status: 402 }, "billing"],
    ["unknown", { api_error_status: 400 }, "invalid_request"],
    ["rate_limit", { api_error_status: 429 }, "rate_limited"],
    ["server_error", { api_error_status: 529 }, "overloaded"],
    ["overloaded", { api_error_status: 529 }, "overloaded"],
    ["server_error", { api_error_status: 500 }, "server_error"],
    ["server_error", { result: "API Error: Unable to connect" }, "network"],
    ["invalid_request", { terminal_reason: "prompt_too_long", api_error_status: 400 }, "prompt_too_long"],
    ["invalid_request", { stop_reason: "refusal" }, "refused"],
    ["max_output_tokens", {}, "max_tokens"],
    ["model_not_found", { api_error_status: 404 }, "unknown_model"],
    ["server_error", { result: "API Error: getaddrinfo ENOTFOUND api.anthropic.com" }, "network"],
    ["invalid_request", { api_error_status: 413, terminal_reason: "image_error" }, "prompt_too_long"],
    ["unknown", { api_error_status: 422 }, "invalid_request"],
    [
      "invalid_request",
      { api_error_status: 400, result: "API Error: 400 the field refuse_me is unknown" },
      "invalid_request",
    ],
  ])("%s %j is %s", (error, change, code) => {
    expect(read(apiError(error, change))).toMatchObject({ error: { code } });
  });

  test("reports the reset time of a rejected plan limit", () => {
    const limit = message({
      type: "rate_limit_event",
      rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 },
    });
    expect(read([limit, ...apiError("rate_limit", { api_error_status: 429 })]).error?.resetsAt).toEqual(
      new Date(1_800_000_000_000),
    );
  });
});

describe("usage", () => {
  test("counts answers by message id, not by block, and only of the main conversation", () => {
    const outcome = read([
      assistant("a", [{ type: "text", text: "one" }]),
      assistant("a", [{ type: "tool_use" }]),
      assistant("sub", [{ type: "text", text: "elsewhere" }], { parent_tool_use_id: "toolu_1" }),
      assistant("b", [{ type: "text", text: "two " }]),
      assistant("b", [{ type: "text", text: "three" }]),
      result(),
    ]);
    expect(outcome).toMatchObject({ answers: 2, text: "two three" });
  });

  test("reports usage since the last result, from cumulative totals", () => {
    const used = (inputTokens: number) => ({
      m: {
        inputTokens,
        outputTokens: 2,
        cacheReadInputTokens: 0,
        cacheCreationInputTokens: 30,
        cacheCreationEphemeral1hInputTokens: 10,
        webSearchRequests: 1,
      },
    });
    const before = {
      m: {
        inputTokens: 10,
        outputTokens: 2,
        cacheReadTokens: 0,
        cacheWrite5mTokens: 0,
        cacheWrite1hTokens: 0,
        webSearches: 1,
      },
    };
    const outcome = new TurnReader().accept(result({ modelUsage: used(15) }), before);
    expect(outcome?.used).toEqual([
      {
        model: "m",
        usage: {
          inputTokens: 5,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWrite5mTokens: 20,
          cacheWrite1hTokens: 10,
          webSearches: 0,
        },
      },
    ]);
  });

  test("splits usage by request where the stream adds up to the result, otherwise by model", () => {
    const start = (id: string) => {
      const usage = { input_tokens: 4, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
      return message({ type: "stream_event", event: { type: "message_start", message: { id, model: "wire", usage } } });
    };
    const total = (inputTokens: number) =>
      result({
        modelUsage: {
          m: {
            inputTokens,
            outputTokens: 4,
            cacheReadInputTokens: 0,
            cacheCreationInputTokens: 0,
            webSearchRequests: 0,
          },
        },
      });
    expect(read([start("a"), start("b"), total(8)]).used).toMatchObject([
      { model: "m", usage: { inputTokens: 4, outputTokens: 2 } },
      { model: "m", usage: { inputTokens: 4, outputTokens: 2 } },
    ]);
    expect(read([start("a"), start("b"), total(80)]).used).toMatchObject([{ model: "m", usage: { inputTokens: 80 } }]);
  });

  test("reports usage of a turn without a result from its stream", () => {
    const reader = new TurnReader();
    const usage = { input_tokens: 4, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 0 };
    reader.accept(
      message({ type: "stream_event", event: { type: "message_start", message: { id: "a", model: "m", usage } } }),
    );
    reader.accept(
      message({ type: "stream_event", event: { type: "message_delta", delta: {}, usage: { output_tokens: 9 } } }),
    );
    expect(reader.usedSoFar).toMatchObject([
      { model: "m", usage: { inputTokens: 4, outputTokens: 9, cacheReadTokens: 3 } },
    ]);
  });
});
