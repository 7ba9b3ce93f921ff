import type { McpServer } from "@tandem/protocol";
import { expect, test } from "vitest";
import { restorePasswords, servedAgent } from "./server-passwords.ts";

const server = (url: string): McpServer => ({ type: "url", name: "tickets", url });
const STORED = server("https://ann:hunter2@mcp.example/x");
const SHOWN = server("https://ann:[redacted]@mcp.example/x");

test("clients see no password of an MCP server, and an update may send the placeholder back", () => {
  const agent = { mcp_servers: [STORED], multiagent: { agents: [{ mcp_servers: [STORED] }] } };
  expect(JSON.stringify(servedAgent(agent))).not.toContain("hunter2");
  expect(servedAgent(agent).mcp_servers).toEqual([SHOWN]);
  expect(restorePasswords([SHOWN], [STORED])).toEqual([STORED]);
});

test("a placeholder for another address is refused: the password must not go there", () => {
  expect(() => restorePasswords([server("https://ann:[redacted]@evil.example/x")], [STORED])).toThrow("[redacted]");
});
