import { expect, test } from "vitest";
import { nameOfKind, summarizeCall, undoHint } from "./summarize-call.ts";

const call = (tool: string, input: Record<string, unknown>, kind: "tool" | "plan" | "question" = "tool") => ({
  kind,
  tool,
  input,
  folder: "/home/ada/shop",
});

test("summarizes a call by its subject", () => {
  expect(summarizeCall(call("Bash", { command: "git push\n--force" }))).toBe("git push");
  expect(summarizeCall(call("Edit", { file_path: "/home/ada/shop/src/a.ts", old_string: "x" }))).toBe("src/a.ts");
  expect(summarizeCall(call("mcp__db__ask", { limit: 3, sql: "select 1" }))).toBe("select 1");
  expect(summarizeCall(call("Nothing", {}))).toBe("Nothing");
  expect(summarizeCall({ ...call("ExitPlanMode", {}, "plan"), plan: "\n# Move it\n\nNow." })).toBe("Move it");
  expect(summarizeCall(call("q", { questions: [{ question: "Which?" }, { question: "When?" }] }, "question"))).toBe(
    "Which? (and 1 more)",
  );
});

test("an MCP call is named by its server and tool", () => {
  expect(nameOfKind({ kind: "tool", tool: "mcp__db__ask", mcp_server_name: "db" })).toBe("db · ask");
});

test("states for each changing call whether a rewind undoes it", () => {
  const folder = "/srv/shop";
  const undo = (tool: string, input: Record<string, unknown>) => undoHint({ tool, input, folder });
  expect(undo("Edit", { file_path: "/srv/shop/a.ts" })).toBe("Rewind can undo this, unless the file is git-ignored.");
  expect(undo("Edit", { file_path: "/srv/shop/../b.ts" })).toContain("cannot undo");
  expect(undo("Write", { file_path: "/etc/passwd" })).toContain("cannot undo");
  expect(undo("Bash", { command: "ls" })).toContain("anything outside the folder");
  expect(undo("Read", { file_path: "/srv/shop/a.ts" })).toBeUndefined();
});
