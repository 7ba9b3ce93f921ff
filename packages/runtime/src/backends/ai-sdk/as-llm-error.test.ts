import { APICallError } from "@ai-sdk/provider";
import { LlmError } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import { asLlmError } from "./as-llm-error.ts";

const signal = new AbortController().signal;

function answer(statusCode: number, body: unknown, responseHeaders: Record<string, string> = {}): APICallError {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return new APICallError({
    message: "failed",
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
    responseBody,
  });
}

const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message } });
const googleError = (code: number, status: string, message: string) => ({ error: { code, status, message } });
const withCode = (code: string) => Object.assign(new Error(`it is ${code}`), { code });

describe("service errors", () => {
  it.each([
    ["auth_rejected", answer(401, anthropicError("authentication_error", "invalid x-api-key"))],
    ["auth_rejected", answer(403, googleError(403, "PERMISSION_DENIED", "Permission denied on resource."))],
    [
      "billing",
      answer(400, anthropicError("invalid_request_error", "Your credit balance is too low to access the API.")),
    ],
    ["billing", answer(402, { error: { type: "insufficient_funds", message: "Top up." } })],
    ["billing", answer(403, googleError(403, "PERMISSION_DENIED", "Billing has been disabled for this project."))],
    [
      "prompt_too_long",
      answer(400, anthropicError("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum")),
    ],
    [
      "prompt_too_long",
      answer(400, anthropicError("invalid_request_error", "input length and `max_tokens` exceed context limit: 9 > 8")),
    ],
    ["prompt_too_long", answer(413, anthropicError("request_too_large", "Request exceeds the maximum size"))],
    ["unknown_model", answer(404, anthropicError("not_found_error", "model: claude-x"))],
    ["unknown_model", answer(404, googleError(404, "NOT_FOUND", "Publisher Model was not found."))],
    ["unknown_model", answer(404, [googleError(404, "NOT_FOUND", "Publisher Model was not found.")])],
    ["invalid_request", answer(404, "<html>Not here</html>")],
    ["rate_limited", answer(429, googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded."))],
    ["overloaded", answer(529, anthropicError("overloaded_error", "Overloaded"))],
    ["overloaded", answer(500, anthropicError("overloaded_error", "Overloaded"))],
    ["server_error", answer(502, "<html>Bad gateway</html>")],
    ["invalid_request", answer(400, anthropicError("invalid_request_error", "messages: required"))],
  ])("%s: %s", (code, error) => {
    expect(asLlmError(error, signal)).toMatchObject({ code, status: error.statusCode, cause: error });
  });

  it("keeps the service's message and its retry time", () => {
    const headers = { "retry-after": "4", "anthropic-ratelimit-unified-reset": "1767229200" };
    const error = asLlmError(answer(429, anthropicError("rate_limit_error", "Slow down."), headers), signal);
    expect(error).toMatchObject({ message: "Slow down.", retryAfterMs: 4_000, resetsAt: new Date(1_767_229_200_000) });
  });

  it("finds the status in wrapped errors", () => {
    const wrapped = Object.assign(new Error("Gateway failed"), { statusCode: 500, type: "internal_server_error" });
    wrapped.cause = answer(529, { error: { message: "Overloaded", type: "internal_server_error" } });
    expect(asLlmError(wrapped, signal).code).toBe("overloaded");
  });

  it.each([
    ["overloaded", { type: "overloaded_error", message: "Overloaded", statusCode: 529 }],
    ["overloaded", { type: "internal_server_error", message: "Overloaded" }],
    ["rate_limited", { type: "rate_limit_exceeded", message: "Slow down." }],
    ["server_error", { type: "api_error", message: "Oops." }],
  ])("%s: within a stream, %j", (code, error) => {
    expect(asLlmError(error, signal)).toMatchObject({ code, message: error.message });
  });
});

describe("transport errors", () => {
  it.each([
    ["network", Object.assign(new TypeError("fetch failed"), { cause: withCode("ECONNREFUSED") })],
    [
      "network",
      new APICallError({
        message: "Cannot connect",
        url: "http://x",
        requestBodyValues: {},
        cause: withCode("ENOTFOUND"),
      }),
    ],
    [
      "network",
      new APICallError({
        message: "Failed to process",
        url: "http://x",
        requestBodyValues: {},
        statusCode: 200,
        cause: new TypeError("terminated"),
      }),
    ],
    ["network", Object.assign(new TypeError("fetch failed"), { cause: withCode("UNABLE_TO_VERIFY_LEAF_SIGNATURE") })],
    ["timeout", Object.assign(new TypeError("terminated"), { cause: withCode("UND_ERR_BODY_TIMEOUT") })],
    ["timeout", new Error("wrapped", { cause: new LlmError("timeout", "No sign of life.") })],
    [
      "not_configured",
      new Error("Could not load the default credentials. Browse to https://cloud.google.com/docs for more."),
    ],
    ["auth_rejected", Object.assign(new Error("invalid_grant: account not found"), { status: 400 })],
    ["server_error", Object.assign(new Error("JSON parsing failed"), { name: "AI_JSONParseError" })],
    ["server_error", "a string"],
    ["invalid_request", new Error("Something else.")],
  ])("%s: %s", (code, error) => {
    expect(asLlmError(error, signal).code).toBe(code);
  });

  it("an abort by the caller takes precedence over any error", () => {
    expect(asLlmError(new TypeError("terminated"), AbortSignal.abort()).code).toBe("aborted");
  });

  it("keeps only the first paragraph of a long message", () => {
    const essay = Object.assign(new Error("Authentication failed.\n\nOption 1: create a key."), { statusCode: 401 });
    expect(asLlmError(essay, signal).message).toBe("Authentication failed.");
  });
});
