import { describe, expect, test } from "vitest";
import type { ConversationSetup } from "./conversation.ts";
import { checkSessionInit } from "./process-options.ts";

const setup = {
  credential: { type: "login" },
  tools: ["Agent", "Bash"],
  mcpServers: [{ name: "eyes", url: "http://eyes/mcp", timeoutMs: 1 }],
  outputSchema: { type: "object" },
} as unknown as ConversationSetup;
const asked = {
  tools: ["Task", "Bash", "StructuredOutput", "DeferredToolPlaceholder", "mcp__eyes__look", "mcp__tandem__ask"],
  mcp_servers: [
    { name: "eyes", status: "connected" },
    { name: "tandem", status: "connected" },
  ],
  plugins: [{ name: "cc-plugin-privacy", path: "builtin" }],
  apiKeySource: "none" as const,
  cwd: "/project",
};
const check = (init: object) => (): void =>
  checkSessionInit({ ...asked, ...init }, setup, { customServer: "tandem", mcpServers: [] });

describe("Claude Code's reported setup", () => {
  test("may equal the requested one, or be a subset", () => {
    expect(check({})).not.toThrow();
    expect(check({ tools: ["Bash"], mcp_servers: [] })).not.toThrow();
  });

  test.each([
    ["a tool", { tools: ["Bash", "WebFetch"] }],
    ["a tool of another server", { tools: ["mcp__hostile__run"] }],
    ["a server", { mcp_servers: [{ name: "hostile", status: "connected" }] }],
    ["a plugin", { plugins: [{ name: "hostile", path: "/plugins/hostile" }] }],
    ["another payer", { apiKeySource: "ANTHROPIC_API_KEY" }],
  ])("may not include %s", (_, init) => {
    expect(check(init)).toThrow(expect.objectContaining({ code: "isolation_breached" }));
  });
});
