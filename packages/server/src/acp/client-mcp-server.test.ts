import { expect, test } from "vitest";
import { clientServers } from "./client-mcp-server.ts";

const namesOf = (...names: string[]): string[] =>
  clientServers(names.map((name) => ({ name, type: "http", url: "http://127.0.0.1:9/" }))).map(({ name }) => name);

test("servers of a client get names that tools can be called by, each its own", () => {
  expect(namesOf("files", "My files!", "files", "", "_x_")).toEqual(["files", "My_files", "files_2", "server", "x"]);
});

test("none is taken for one of Tandem's or Claude Code's own, nor for the tools of another", () => {
  expect(namesOf("tandem", "custom", "ide")).toEqual(["tandem_2", "custom_2", "ide_2"]);
  expect(namesOf("github", "github__search", "github! ?search")).toEqual([
    ...["github", "github_search", "github_search_2"],
  ]);
});

test.each([
  [{ name: "x", type: "http", url: "file:///etc/passwd" }],
  [{ name: "x", type: "sse", url: "not an address" }],
  [{ name: "x", type: "websocket", url: "ws://127.0.0.1:9/" }],
  [{ name: "x", type: "stdio" }],
])("what is no server is refused: %o", (server) => {
  expect(() => clientServers([server])).toThrow("mcpServers: ");
});
