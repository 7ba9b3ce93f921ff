import { LlmError, RequestError, type RequestErrorCode } from "@tandem/protocol";
import { LeaseLost } from "@tandem/storage";
import { describe, expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { errorReply } from "./error-reply.ts";

const reply = (error: unknown) => {
  const { status, headers, body, unexpected } = errorReply(error, "req_1");
  return { status, unexpected, retry: headers["x-should-retry"], ...(JSON.parse(body) as object) };
};

test.each<[RequestErrorCode, number, string, string | undefined]>([
  ["invalid_request", 400, "invalid_request_error", "false"],
  ["forbidden", 403, "permission_error", "false"],
  ["not_found", 404, "not_found_error", "false"],
  ["conflict", 409, "conflict_error", "false"],
  ["too_large", 413, "request_too_large", "false"],
  ["not_supported", 501, "invalid_request_error", "false"],
  ["unavailable", 503, "api_error", undefined],
])("%s becomes %i %s", (code, status, type, retry) => {
  expect(reply(new RequestError(code, "No.", { fix: "Do this." }))).toEqual({
    status,
    retry,
    unexpected: false,
    type: "error",
    error: { type, message: "No. Do this.", fix: "Do this." },
    request_id: "req_1",
  });
});

test("specific codes that Anthropic's clients know are passed on", () => {
  const error = new RequestError("invalid_request", "It is archived.", { detail: "environment_archived" });
  expect(reply(error)).toMatchObject({ error: { details: { error_code: "environment_archived" } } });
});

test("a lost lease is a conflict, and an unreachable model is not an internal error", () => {
  expect(reply(new LeaseLost("sesn_1"))).toMatchObject({ status: 409, retry: "false" });
  expect(reply(new LlmError("not_logged_in", "Claude Code is not logged in."))).toMatchObject({
    status: 503,
    unexpected: false,
    error: { message: expect.stringContaining("Claude Code is not logged in.") },
  });
});

test("credentials in a message are redacted", () => {
  const error = new RequestError("invalid_request", "The key sk-ant-api03-abcdefgh was refused.");
  expect(JSON.stringify(reply(error))).not.toContain("abcdefgh");
});

describe("an unexpected error", () => {
  test("is logged, and the client gets only the request id", async () => {
    const memory = new MemoryEngine();
    memory.models = async () => {
      throw new TypeError("Cannot read properties of undefined (reading 'sk-ant-secret-12345678')");
    };
    await using server = await startTestServer({ engine: memory.engine });
    const response = await server.request("/v1/models");
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).toContain("request's id");
    expect(text).not.toMatch(/Cannot read|at .*\.ts|node_modules/);
    const line = server.log.find(({ msg }) => msg === "a request failed unexpectedly");
    expect(line).toMatchObject({
      level: "error",
      request_id: response.headers.get("request-id"),
      err: { type: "TypeError" },
    });
    expect(JSON.stringify(line)).not.toContain("12345678");
  });

  test("is raised in tests if a response does not match its schema", async () => {
    const memory = new MemoryEngine();
    memory.models = async () => [{ id: 7 as never, name: "", aliases: [] }];
    await using server = await startTestServer({ engine: memory.engine });
    expect((await server.request("/v1/models")).status).toBe(500);
  });
});

test("a handler that hangs times out, and the client is told not to retry", async () => {
  const memory = new MemoryEngine();
  memory.models = () => new Promise(() => undefined);
  memory.beforeSend = () => new Promise(() => undefined);
  const session = memory.createSession();
  await using server = await startTestServer({ engine: memory.engine, settings: { handlerTimeoutMs: 50 } });
  const read = await server.request("/v1/models");
  expect([read.status, read.headers.get("x-should-retry")]).toEqual([504, null]);
  const sent = await server.request(`/v1/sessions/${session}/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: [{ type: "user.interrupt" }] }),
  });
  expect([sent.status, sent.headers.get("x-should-retry")]).toEqual([504, "false"]);
});
