import { expect, test } from "vitest";
import { sameServer } from "./same-server.ts";

test.each([
  ["HTTPS://MCP.Example.com/mcp", "https://mcp.example.com/mcp"],
  ["https://mcp.example.com:443/mcp/", "https://mcp.example.com/mcp"],
  ["http://mcp.example.com:80", "http://mcp.example.com/"],
  ["https://mcp.example.com/mcp#part", "https://mcp.example.com/mcp"],
])("%s is the server %s", (a, b) => {
  expect(sameServer(a, b)).toBe(true);
});

test.each([
  ["https://mcp.example.com/mcp", "https://mcp.example.com/other"],
  ["https://mcp.example.com/mcp", "https://mcp.example.com/MCP"],
  ["https://mcp.example.com/mcp", "https://a.mcp.example.com/mcp"],
  ["https://mcp.example.com/mcp", "https://mcp.example.com:8443/mcp"],
  ["https://mcp.example.com/mcp", "http://mcp.example.com/mcp"],
  ["https://mcp.example.com/mcp?team=a", "https://mcp.example.com/mcp?team=b"],
])("%s is not the server %s", (a, b) => {
  expect(sameServer(a, b)).toBe(false);
});
