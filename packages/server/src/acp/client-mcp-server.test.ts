import { expect, test } from "vitest";
import { clientServers } from "./client-mcp-server.ts";

const namesOf = (...names: string[]): string[] =>
  clientServers(names.map((name) => ({ name, type: "http", url: "http://127.0.0.1:9/" }))).map(({ name }) => name);

test("MCP servers of a client get unique names that are valid in tool names", () => {
  expect(namesOf("files", "My files!", "files", "", "_x_")).toEqual(["files", "My_files", "files_2", "server", "x"]);
});

test("an MCP server of a client cannot take a name of Tandem or Claude Code, nor shadow another server's tools", () => {
  expect(namesOf("tandem", "custom", "ide")).toEqual(["tandem_2", "custom_2", "ide_2"]);
  expect(namesOf("github", "github__search", "github! ?search")).toEqual([
    "github",
    "github_search",
    "github_search_2",
  ]);
});

test.each([
  [{ name: "x", type: "http", url: "file:///etc/passwd" }],
  [{ name: "x", type: "sse", url: "not an address" }],
  [{ name: "x", type: "websocket", url: "ws://127.0.0.1:9/" }],
  [{ name: "x", type: "stdio" }],
])("an invalid MCP server is rejected: %o", (server) => {
  expect(() => clientServers([server])).toThrow("mcpServers: ");
});
