import { expect, test } from "vitest";
import { jsonEntry, tomlEntry } from "./settings-entry.ts";

const entry = { section: "mcp_servers", name: "tandem", value: { command: "tandem", args: ["mcp"] } };
const TABLE = '[mcp_servers.tandem]\ncommand = "tandem"\nargs = ["mcp"]\n';

test.each([
  ["", TABLE],
  ["model = 'x'\n", `model = 'x'\n\n${TABLE}`],
  ["[mcp_servers.tandem-two]\ncommand = 'x'\n", `[mcp_servers.tandem-two]\ncommand = 'x'\n\n${TABLE}`],
])("adds a table to TOML: %j", (old, text) => expect(tomlEntry(old, entry)).toEqual({ state: "absent", text }));

test.each([
  [`a = 1\n\n${TABLE}`, "a = 1\n"],
  [`a = 1\n\n${TABLE}\n[tools]\nb = 2\n`, "a = 1\n\n[tools]\nb = 2\n"],
])("finds its own table in TOML and can remove it: %j", (old, text) =>
  expect(tomlEntry(old, entry)).toEqual({ state: "there", text }),
);

test.each([
  '[mcp_servers.tandem]\ncommand = "mine"\n',
  `${TABLE}env = { A = "1" }\n`,
  '[mcp_servers."tandem"]\ncommand = "mine"\n',
  'mcp_servers = { tandem = { command = "mine" } }\n',
  'mcp_servers.tandem.command = "mine"\n',
  '[mcp_servers.tandem.env]\nA = "1"\n',
])("leaves another definition in TOML alone: %j", (old) => expect(tomlEntry(old, entry)).toEqual({ state: "other" }));

test("reads JSON with comments, and refuses what is no object", () => {
  expect(jsonEntry('{ // a\n "mcp_servers": {},\n}', entry)).toMatchObject({ state: "absent" });
  expect(jsonEntry("[1]", entry)).toEqual({ state: "unreadable" });
  expect(jsonEntry('{ "mcp_servers": { "tandem": { "command": "mine" } } }', entry)).toEqual({ state: "other" });
});
