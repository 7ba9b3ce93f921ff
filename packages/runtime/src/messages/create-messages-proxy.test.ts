import { configSchema, type PassedAnswer } from "@tandem/protocol";
import { cutConnection, stallBeforeFirstByte, startRehearsal, text, type Rehearsal } from "@tandem/rehearsal";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { googleCredentials } from "../contract/fixtures.ts";
import { createMessagesProxy } from "./create-messages-proxy.ts";

let rehearsal: Rehearsal;
const folder = mkdtempSync(join(tmpdir(), "tandem-messages-"));
beforeAll(async () => {
  rehearsal = await startRehearsal([]);
});
afterEach(() => rehearsal.use([]));
afterAll(async () => {
  await rehearsal.close();
  rmSync(folder, { recursive: true, force: true });
});

const proxyOf = (llm: object, secret = "made-up-key") =>
  createMessagesProxy(configSchema.parse({ llm }).llm, { readSecret: async () => secret });

function requestOf(fields: object = {}, operation: "create" | "count_tokens" = "create") {
  const parsed = { model: "claude-sonnet-5-5", max_tokens: 10, messages: [{ role: "user", content: "Hi" }], ...fields };
  const body = Buffer.from(`${JSON.stringify(parsed, null, 2)}\n`);
  return { operation, parsed, body, headers: {}, signal: new AbortController().signal };
}

async function textOf({ body }: PassedAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("a backend without a Messages API is refused", () => {
  test.each([
    ["a login", { provider: { backend: "claude-code" } }, "a Claude login only works in Claude Code"],
    ["an OAuth token", { provider: { backend: "claude-code" }, claudeCode: { auth: "oauth_token" } }, "a Claude login"],
    ["none", {}, "no model backend is configured"],
    [
      "another gateway",
      { provider: { backend: "gateway", gateway: { baseUrl: "https://example.org" } } },
      "gateway at",
    ],
  ])("%s", async (_name, llm, why) => {
    const refused = proxyOf(llm);
    await expect(refused).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining(why) });
    await expect(refused).rejects.toMatchObject({ fix: expect.stringContaining("llm.provider.backend") });
  });
});

test("a gateway has the Messages API beside its own protocol", async () => {
  rehearsal.use([text("Hello.")]);
  const proxy = await proxyOf({
    provider: { backend: "gateway", gateway: { baseUrl: rehearsal.providerUrls.gateway } },
  });
  const answer = await proxy.send(requestOf({ model: "haiku" }));
  expect(JSON.parse(await textOf(answer))).toMatchObject({ content: [{ text: "Hello." }] });
  const [received] = rehearsal.requests;
  expect(received).toMatchObject({ path: "/v1/messages", headers: { authorization: "Bearer made-up-key" } });
  expect(received!.body).toMatchObject({ model: "anthropic/claude-haiku-5.5" });
});

test("an API key of Claude Code is used as one", async () => {
  rehearsal.use([text("Hello.")]);
  const proxy = await proxyOf({
    provider: { backend: "claude-code" },
    claudeCode: { auth: "api_key", baseUrl: rehearsal.url },
  });
  await textOf(await proxy.send(requestOf()));
  expect(rehearsal.requests[0]!.headers["x-api-key"]).toBe("made-up-key");
});

test("Vertex has the model in its path and gets Google's token", async () => {
  rehearsal.use([text("Whole."), text("Streamed.", { usage: { input_tokens: 7, output_tokens: 3 } })]);
  const vertex = { project: "rehearsal", baseUrl: rehearsal.url, credentials: "env:GOOGLE" };
  const proxy = await proxyOf({ provider: { backend: "vertex", vertex } }, googleCredentials(rehearsal, folder));
  expect(JSON.parse(await textOf(await proxy.send(requestOf())))).toMatchObject({ content: [{ text: "Whole." }] });
  const streamed = await proxy.send(requestOf({ stream: true }));
  expect(await textOf(streamed)).toContain("Streamed.");
  expect(streamed.usage()).toMatchObject({ usage: { inputTokens: 7, outputTokens: 3 } });
  // Google's token is fetched once.
  const [token, whole, stream] = rehearsal.requests;
  expect(token!.path).toBe("/token");
  expect(whole!.path).toMatch(/\/models\/claude-sonnet-5-5:rawPredict$/);
  expect(whole!.headers["authorization"]).toMatch(/^Bearer made-up-google-token/);
  expect(whole!.body).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 10 });
  expect(whole!.body).not.toHaveProperty("model");
  expect(stream!.path).toMatch(/:streamRawPredict$/);
  await expect(proxy.send(requestOf({ model: "../other" }))).rejects.toMatchObject({ code: "invalid_request" });
});

test("a silent service and a broken connection end with a reason", async () => {
  const provider = { backend: "anthropic", anthropic: { baseUrl: rehearsal.url } };
  const proxy = await proxyOf({ provider, limits: { firstByte: "200ms", idle: "200ms" } });
  rehearsal.use([stallBeforeFirstByte(), cutConnection({ afterText: "Some" })]);
  await expect(proxy.send(requestOf({ stream: true }))).rejects.toMatchObject({ code: "timeout" });
  await expect(proxy.send(requestOf({ stream: true })).then(textOf)).rejects.toMatchObject({ code: "network" });
});
