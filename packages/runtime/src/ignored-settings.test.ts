import { configSchema } from "@tandem/protocol";
import { expect, it } from "vitest";
import { ignoredSettings } from "./ignored-settings.ts";

const keysIgnored = (llm: object) => ignoredSettings(configSchema.parse({ llm }).llm).map(({ key }) => key.slice(4));
const onClaudeCode = (llm: object) => keysIgnored({ provider: { backend: "claude-code" }, ...llm });

it("names changed prompt-caching settings that claude-code ignores", () => {
  const promptCaching = { systemTtl: "5m", toolsTtl: "1h", vertexFallbackTo5m: true };
  expect(onClaudeCode({ promptCaching })).toEqual(["promptCaching.systemTtl", "promptCaching.vertexFallbackTo5m"]);
});

it("names the switches of sections on claude-code, and the TTL of a section that is not cached elsewhere", () => {
  const promptCaching = { cacheSystem: false, cacheTools: false, cacheHistory: false, systemTtl: "5m" };
  const switches = ["promptCaching.cacheSystem", "promptCaching.cacheTools", "promptCaching.cacheHistory"];
  expect(onClaudeCode({ promptCaching })).toEqual([...switches, "promptCaching.systemTtl"]);
  expect(keysIgnored({ provider: { backend: "anthropic" }, promptCaching })).toEqual(["promptCaching.systemTtl"]);
});

it("names settings that only claude-code uses, on API backends", () => {
  const changes = {
    claudeCode: { auth: "api_key", executable: "/opt/claude", effort: "low" },
    pool: { mode: "off", size: 2 },
    limits: {
      spawn: "20s",
      init: "20s",
      exit: "20s",
      attempts: 2,
      concurrency: 1,
      patience: "1s",
      firstByte: "1s",
      idle: "1s",
    },
    promptCaching: { systemTtl: "5m", vertexFallbackTo5m: true },
  };
  const everywhere = [
    "claudeCode.auth",
    "claudeCode.executable",
    "claudeCode.effort",
    "limits.spawn",
    "limits.init",
    "limits.exit",
    "pool.mode",
    "pool.size",
  ];
  expect(keysIgnored({ provider: { backend: "vertex" }, ...changes })).toEqual(everywhere);
  for (const backend of ["anthropic", "gateway"]) {
    expect(keysIgnored({ provider: { backend }, ...changes }).toSorted()).toEqual(
      [...everywhere, "promptCaching.vertexFallbackTo5m"].toSorted(),
    );
  }
});

it("names settings of other backends", () => {
  const provider = {
    anthropic: { baseUrl: "https://a.example" },
    vertex: { project: "p" },
    gateway: { apiKey: "env:K" },
  };
  const all = ["provider.anthropic.baseUrl", "provider.vertex.project", "provider.gateway.apiKey"];
  for (const backend of ["anthropic", "vertex", "gateway", "claude-code"]) {
    const others = all.filter((key) => !key.startsWith(`provider.${backend}.`));
    expect(keysIgnored({ provider: { backend, ...provider } })).toEqual(others);
  }
});

it.each([
  ["login", ["apiKey", "oauthToken", "baseUrl"]],
  ["api_key", ["oauthToken"]],
  ["oauth_token", ["apiKey", "baseUrl"]],
])("names credentials that `auth: %s` ignores", (auth, names) => {
  const credentials = { apiKey: "env:A", oauthToken: "env:B", baseUrl: "https://a.example", executable: "/opt/claude" };
  expect(onClaudeCode({ claudeCode: { auth, ...credentials } })).toEqual(names.map((name) => `claudeCode.${name}`));
});

it.each([
  ["reuse", []],
  ["single-use", ["maxCalls", "maxMemoryMb"]],
  ["off", ["size", "maxCalls", "maxAge", "maxMemoryMb", "idle"]],
])("names settings that pool mode `%s` ignores", (mode, names) => {
  const pool = { mode, size: 2, maxCalls: 9, maxAge: "1m", maxMemoryMb: 200, idle: "1m" };
  expect(onClaudeCode({ pool })).toEqual(names.map((name) => `pool.${name}`));
});

it("names TTLs of a disabled prompt cache", () => {
  const promptCaching = { enabled: false, systemTtl: "5m", vertexFallbackTo5m: true };
  expect(keysIgnored({ provider: { backend: "vertex" }, promptCaching })).toEqual([
    "promptCaching.systemTtl",
    "promptCaching.vertexFallbackTo5m",
  ]);
});

it("names nothing with default settings", () => {
  for (const backend of ["none", "anthropic", "vertex", "gateway", "claude-code"]) {
    expect(keysIgnored({ provider: { backend } })).toEqual([]);
  }
});
