import { expect, test } from "vitest";
import { describeCall } from "./describe-call.ts";

test.each([
  ["Bash", { command: "npm test", description: "Run tests" }, "npm test"],
  ["Bash", { command: "a\nb" }, "a …"],
  ["Read", { file_path: "/home/me/project/src/a.ts" }, "src/a.ts"],
  ["Read", { file_path: "/home/me/project/a.ts", offset: 10, limit: 5 }, "a.ts, lines 10 to 14"],
  ["Edit", { file_path: "/etc/passwd", old_string: "a", new_string: "b" }, "/etc/passwd"],
  ["Grep", { pattern: "TODO", path: "/home/me/project/src" }, "TODO in src"],
  ["Grep", { pattern: "TODO", path: "/home/me/project" }, "TODO in ."],
  ["WebFetch", { url: "https://example.com", prompt: "x" }, "https://example.com"],
  ["Agent", { subagent_type: "scout", description: "Look around", prompt: "…" }, "scout: Look around"],
  ["other", { a: 1 }, '{"a":1}'],
  ["other", {}, ""],
  ["Bash", { command: "\u001b[2Jrm -rf /" }, "rm -rf /"],
])("%s %j", (name, input, expected) => {
  expect(describeCall({ name, input }, "/home/me/project")).toBe(expected);
});
