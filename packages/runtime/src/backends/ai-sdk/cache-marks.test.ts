import { configSchema } from "@tandem/protocol";
import { startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { anthropicFixture, gatewayFixture, vertexFixture } from "../../contract/fixtures.ts";
import type { BackendFixture } from "../../contract/runtime-stage.ts";
import { createRuntime } from "../../create-runtime.ts";
import { defineTool } from "../../tool.ts";
import { cacheMarks } from "./cache-marks.ts";

const look = (name: string) =>
  defineTool({ name, description: name, schema: z.object({}), execute: async () => ({ markdown: "seen" }) });

/** Request bodies: two of a loop, one of a text call. */
async function bodies(fixture: BackendFixture, promptCaching: object) {
  await using rehearsal = await startRehearsal([toolUse("a_look"), text("Done."), text("Hello.")]);
  const config = configSchema.parse({ llm: { provider: { backend: fixture.name }, promptCaching } }).llm;
  const runtime = createRuntime({ config, backend: await fixture.make(rehearsal, config), sink: () => undefined });
  const request = { role: "default", system: "Be brief.", prompt: "Go." } as const;
  await runtime.runAgentLoop({ ...request, tools: [look("z_look"), look("a_look")], stepBudget: 3 });
  await runtime.generateText(request);
  await runtime.close();
  return rehearsal.modelRequests.map(({ body }) => body);
}

const mark = (ttl: string) => ({ cache_control: { type: "ephemeral", ttl } });

describe.each([anthropicFixture, vertexFixture])("prompt caching on $name", (fixture) => {
  it("marks the end of the tools, the system prompt and the conversation, each with its TTL", async () => {
    const [first, second] = await bodies(fixture, { toolsTtl: "1h", systemTtl: "1h", historyTtl: "5m" });
    const [aLook, zLook] = (first as { tools: object[] }).tools;
    expect(aLook).toMatchObject({ name: "a_look" });
    expect(aLook).not.toHaveProperty("cache_control");
    expect(zLook).toMatchObject({ name: "z_look", ...mark("1h") });
    expect(first).toMatchObject({
      system: [{ text: "Be brief.", ...mark("1h") }],
      messages: [{ content: [{ text: "Go.", ...mark("5m") }] }],
    });
    const messages = (second as { messages: { content: object[] }[] }).messages;
    expect(messages[0]?.content[0]).not.toHaveProperty("cache_control");
    expect(messages[2]?.content[0]).toMatchObject({ type: "tool_result", ...mark("5m") });
  });

  it("does not mark a conversation that ends with its first answer", async () => {
    const [, , plain] = await bodies(fixture, {});
    expect(plain).toMatchObject({ system: [mark("1h")] });
    expect(JSON.stringify((plain as { messages: unknown }).messages)).not.toContain("cache_control");
  });

  it("does not mark a section that is not to be cached", async () => {
    const [first] = await bodies(fixture, { cacheSystem: false, cacheTools: false });
    expect(JSON.stringify(first).match(/cache_control/g)).toHaveLength(1);
    expect(first).toMatchObject({ messages: [{ content: [{ text: "Go.", ...mark("5m") }] }] });
    expect(
      JSON.stringify(await bodies(fixture, { cacheSystem: false, cacheTools: false, cacheHistory: false })),
    ).not.toContain("cache_control");
  });

  it("marks nothing if caching is off", async () => {
    expect(JSON.stringify(await bodies(fixture, { enabled: false }))).not.toContain("cache_control");
  });
});

it("falls back to five minutes on Vertex only, if configured", async () => {
  const settings = { historyTtl: "1h", vertexFallbackTo5m: true };
  expect(JSON.stringify(await bodies(vertexFixture, settings))).not.toContain('"ttl":"1h"');
  expect(JSON.stringify(await bodies(anthropicFixture, settings))).not.toContain('"ttl":"5m"');
});

it("passes the gateway's own options", async () => {
  const [first] = await bodies(gatewayFixture, {});
  const control = (ttl: string) => ({ providerOptions: { anthropic: { cacheControl: { type: "ephemeral", ttl } } } });
  expect(first).toMatchObject({
    prompt: [
      { role: "system", ...control("1h") },
      { role: "user", ...control("5m") },
    ],
  });
});

it("never requests a longer TTL after a shorter one, which the API rejects", () => {
  const { promptCaching } = configSchema.parse({
    llm: { promptCaching: { toolsTtl: "5m", systemTtl: "1h", historyTtl: "1h" } },
  }).llm;
  const ttls = (hasTools: boolean) =>
    Object.values(cacheMarks(promptCaching, { onVertex: false, hasTools })).map((options) => JSON.stringify(options));
  expect(ttls(true).every((options) => options.includes("5m"))).toBe(true);
  expect(ttls(false).every((options) => options.includes("1h"))).toBe(true);
});
