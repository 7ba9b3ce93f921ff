import { expect, test } from "vitest";
import { describeCall, nameOfKind, ruleText, within, undoWords } from "./describe-call.ts";

const call = (tool: string, input: Record<string, unknown>, kind: "tool" | "plan" | "question" = "tool") => ({
  ...{ kind, tool, input },
  folder: "/home/ada/shop",
});

test("a call is told by what it is about", () => {
  expect(describeCall(call("Bash", { command: "git push\n--force" }))).toBe("git push");
  expect(describeCall(call("Edit", { file_path: "/home/ada/shop/src/a.ts", old_string: "x" }))).toBe("src/a.ts");
  expect(describeCall(call("mcp__db__ask", { limit: 3, sql: "select 1" }))).toBe("select 1");
  expect(describeCall(call("Nothing", {}))).toBe("Nothing");
  expect(describeCall({ ...call("ExitPlanMode", {}, "plan"), plan: "\n# Move it\n\nNow." })).toBe("Move it");
  expect(describeCall(call("q", { questions: [{ question: "Which?" }, { question: "When?" }] }, "question"))).toBe(
    "Which? (and 1 more)",
  );
});

test("names", () => {
  expect(nameOfKind({ kind: "tool", tool: "mcp__db__ask", mcp_server_name: "db" })).toBe("db · ask");
  expect(within("/a/b", "/a/bc/d")).toBe("/a/bc/d");
  expect(ruleText({ tool: "Bash", pattern: "git *" })).toBe("Bash(git *)");
  expect(ruleText({ tool: "Bash" })).toBe("Bash");
});

test("whether a rewind undoes it is said of what changes something", () => {
  const folder = "/srv/shop";
  const undo = (tool: string, input: Record<string, unknown>) => undoWords({ tool, input, folder });
  expect(undo("Edit", { file_path: "/srv/shop/a.ts" })).toBe("A rewind undoes it, unless git ignores the file.");
  expect(undo("Edit", { file_path: "/srv/shop/../b.ts" })).toContain("does not undo it");
  expect(undo("Write", { file_path: "/etc/passwd" })).toContain("does not undo");
  expect(undo("Bash", { command: "ls" })).toContain("nothing beyond");
  expect(undo("Read", { file_path: "/srv/shop/a.ts" })).toBeUndefined();
});
