import type { EventId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { isNamed } from "./approver.ts";
import type { ToolUse } from "../sessions/describe-call.ts";

const use = (name: string, server?: string): ToolUse => ({
  ...(server ? { type: "agent.mcp_tool_use", mcp_server_name: server } : { type: "agent.tool_use" }),
  id: "sevt_1" as EventId,
  processed_at: null,
  name,
  input: {},
  tandem: { tool_use_id: "toolu_1" },
});

test.each([
  ["bash", use("Bash"), true],
  ["bash", use("KillShell"), true],
  ["Bash", use("Bash"), true],
  ["edit", use("NotebookEdit"), true],
  ["edit", use("Write"), false],
  ["web_fetch", use("WebFetch"), true],
  ["WebFetch", use("WebFetch"), true],
  ["linear.create", use("create", "linear"), true],
  ["linear.*", use("create", "linear"), true],
  ["linear.*", use("create", "linear2"), false],
  ["create", use("create", "linear"), false],
  ["bash", use("bash", "linear"), false],
  ["*", use("Bash"), false],
])("--allow %s", (name, tool, expected) => {
  expect(isNamed(["nothing", name], tool)).toBe(expected);
});
