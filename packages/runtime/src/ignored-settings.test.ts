import { configSchema } from "@tandem/protocol";
import { expect, it } from "vitest";
import { ignoredSettings } from "./ignored-settings.ts";

const keysIgnored = (llm: object) => ignoredSettings(configSchema.parse({ llm }).llm).map(({ key }) => key);

it("names the prompt-caching settings that claude-code does not heed, where they were changed", () => {
  const promptCaching = { systemTtl: "5m", toolsTtl: "1h", vertexFallbackTo5m: true };
  expect(keysIgnored({ provider: { backend: "claude-code" }, promptCaching })).toEqual([
    "llm.promptCaching.systemTtl",
    "llm.promptCaching.vertexFallbackTo5m",
  ]);
});

it("names what only claude-code uses on the API backends", () => {
  const changes = {
    claudeCode: { auth: "api_key" },
    pool: { mode: "off", size: 2 },
    limits: { spawn: "20s", attempts: 2 },
    promptCaching: { systemTtl: "5m", vertexFallbackTo5m: true },
  };
  const everywhere = ["llm.claudeCode.auth", "llm.pool.mode", "llm.pool.size", "llm.limits.spawn"];
  expect(keysIgnored({ provider: { backend: "vertex" }, ...changes })).toEqual(everywhere);
  expect(keysIgnored({ provider: { backend: "anthropic" }, ...changes })).toEqual([
    ...everywhere,
    "llm.promptCaching.vertexFallbackTo5m",
  ]);
});

it("names nothing while nothing was changed", () => {
  for (const backend of ["none", "anthropic", "vertex", "gateway", "claude-code"]) {
    expect(keysIgnored({ provider: { backend } })).toEqual([]);
  }
});
