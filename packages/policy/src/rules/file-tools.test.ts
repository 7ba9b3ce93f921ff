import { afterAll, expect, test } from "vitest";
import { scratchPaths } from "../testing/scratch-paths.ts";
import { compiled } from "../testing/made-up-rules.ts";
import { applyRules } from "./apply-rules.ts";
import { decideCall } from "./decide-call.ts";
import type { JudgedCall } from "./session-rules.ts";
import { suggestRule } from "./suggest-rule.ts";
import { fileAccess, filePath, FILE_TOOLS, TOOL_KINDS, writtenPath } from "./tool-kinds.ts";

const { paths, remove } = scratchPaths();
afterAll(remove);

const call = (name: string, input: Record<string, unknown>): JudgedCall => ({ name, input, thread: null });
const decide = (given: JudgedCall, ...rules: string[]) => {
  const { verdict } = applyRules(compiled(paths, ...rules), given, paths);
  return decideCall(given, { policy: { permission: "ask" }, verdict, mode: "acceptEdits", paths }).permission;
};

// The compiler asks for an entry of each of them, too.
test("every file tool says how it names and accesses its file", () => {
  expect(Object.keys(FILE_TOOLS).toSorted()).toEqual([...TOOL_KINDS.edit, ...TOOL_KINDS.read].toSorted());
  for (const name of TOOL_KINDS.edit) expect(FILE_TOOLS[name].access, name).toContain("write");
  for (const name of TOOL_KINDS.read) expect(FILE_TOOLS[name].access, name).toEqual(["read"]);
});

test.each(TOOL_KINDS.edit)("%s: rules and modes judge the file that the call names", (name) => {
  const { field } = FILE_TOOLS[name];
  expect(decide(call(name, { [field]: "src/a" }))).toBe("allow");
  expect(decide(call(name, { [field]: "src/a" }), "deny edit(src/**)")).toBe("deny");
  expect(decide(call(name, { [field]: "../a" }))).toBe("ask");
  expect(suggestRule(call(name, { [field]: "src/a" }), paths)).toEqual({
    tool: name,
    pattern: "src/a",
    action: "allow",
  });
});

test.each(TOOL_KINDS.edit)("%s: another tool's field does not decide", (name) => {
  const { field } = FILE_TOOLS[name];
  const other = field === "file_path" ? "notebook_path" : "file_path";
  expect(decide(call(name, { [field]: "/etc/hosts", [other]: "src/a" }))).toBe("ask");
  expect(decide(call(name, { [field]: "secrets/key", [other]: "src/a" }), "deny edit(secrets/**)")).toBe("deny");
  expect(decide(call(name, { [other]: "src/a" })), "the call names no file").toBe("ask");
});

test("tools of other names and of MCP servers name no file", () => {
  for (const name of ["edit", "read", "Bash", "constructor", "toString"]) {
    expect(filePath(call(name, { file_path: "a" })), name).toBeUndefined();
  }
  const own = { ...call("Write", { file_path: "a" }), mcpServer: "files" };
  expect([fileAccess(own), filePath(own), writtenPath(own)]).toEqual([undefined, undefined, undefined]);
});
