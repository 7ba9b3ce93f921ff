import { RequestError, type Tool, type ToolParams } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { resolveTools } from "./resolve-tools.ts";
import { decide, offeredTools } from "./tool-policy.ts";

const toolset = (params: Omit<Extract<ToolParams, { type: "agent_toolset_20260401" }>, "type"> = {}): Tool[] =>
  resolveTools([{ type: "agent_toolset_20260401", ...params }], []);
const permission = (tools: Tool[], name: string) => decide(tools, { name }).permission;

describe("a toolset without policies", () => {
  const tools = toolset();

  test.each(["Read", "Glob", "Grep", "TodoWrite", "Agent"])("allows reading and bookkeeping: %s", (name) => {
    expect(permission(tools, name)).toBe("allow");
  });

  test.each(["Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "SomethingNew"])(
    "asks for %s",
    (name) => {
      expect(permission(tools, name)).toBe("ask");
    },
  );

  test("is returned with its defaults filled in", () => {
    expect(tools).toEqual([
      {
        type: "agent_toolset_20260401",
        default_config: { enabled: true, permission_policy: { type: "always_ask" } },
        configs: ["read", "glob", "grep"].map((name) => ({
          type: name,
          name,
          enabled: true,
          permission_policy: { type: "always_allow" },
        })),
      },
    ]);
  });
});

test("an emulator's toolset without policies allows everything, as Anthropic's service does, but for stated policies", () => {
  const [plain] = resolveTools([{ type: "agent_toolset_20260401" }], [], "always_allow");
  const policy = { enabled: true, permission_policy: { type: "always_allow" } };
  expect(plain).toEqual({ type: "agent_toolset_20260401", default_config: policy, configs: [] });
  const asking = { default_config: { permission_policy: { type: "always_ask" as const } } };
  const tools = resolveTools([{ type: "agent_toolset_20260401", ...asking }], [], "always_allow");
  expect(permission(tools, "Read")).toBe("ask");
});

describe("a toolset with policies", () => {
  test("a default applies to every unnamed tool, including reads", () => {
    const tools = toolset({ default_config: { permission_policy: { type: "always_ask" } } });
    expect(permission(tools, "Read")).toBe("ask");
    expect(permission(toolset({ default_config: { permission_policy: { type: "always_allow" } } }), "Bash")).toBe(
      "allow",
    );
  });

  test("a tool's own policy overrides the default", () => {
    const tools = toolset({
      default_config: { permission_policy: { type: "always_allow" } },
      configs: [{ name: "bash", permission_policy: { type: "always_ask" } }],
    });
    expect(permission(tools, "Bash")).toBe("ask");
    expect(permission(tools, "KillShell")).toBe("ask");
    expect(permission(tools, "Write")).toBe("allow");
  });

  test("`auto` asks: no classifier decides here", () => {
    const tools = toolset({ default_config: { permission_policy: { type: "auto" } } });
    expect(permission(tools, "Read")).toBe("ask");
  });

  test("a disabled tool is neither offered nor allowed", () => {
    const tools = toolset({ configs: [{ name: "bash", enabled: false }] });
    expect(offeredTools(tools, false)).not.toContain("Bash");
    expect(permission(tools, "Bash")).toBe("deny");
    const only = toolset({ default_config: { enabled: false }, configs: [{ name: "read", enabled: true }] });
    expect(offeredTools(only, false).filter((name) => !/^(Todo|Task)/.test(name))).toEqual(["Read"]);
  });
});

test("an agent without the toolset has no built-in tools", () => {
  expect(offeredTools([], false)).toEqual([]);
  expect(permission([], "Read")).toBe("deny");
});

describe("MCP toolsets", () => {
  const server = { type: "url" as const, name: "docs", url: "https://example.com/mcp" };
  const tools = resolveTools(
    [
      {
        type: "mcp_toolset",
        mcp_server_name: "docs",
        configs: [
          { name: "search", permission_policy: { type: "always_allow" } },
          { name: "drop", enabled: false },
        ],
      },
    ],
    [server],
  );

  test("ask by default", () => {
    expect(decide(tools, { name: "read", mcpServer: "docs" }).permission).toBe("ask");
    expect(decide(tools, { name: "search", mcpServer: "docs" }).permission).toBe("allow");
    expect(decide(tools, { name: "drop", mcpServer: "docs" }).permission).toBe("deny");
    expect(decide(tools, { name: "search", mcpServer: "other" }).permission).toBe("ask");
  });

  test("must name one of the agent's servers", () => {
    expect(() => resolveTools([{ type: "mcp_toolset", mcp_server_name: "nope" }], [server])).toThrow(RequestError);
  });
});

test("duplicate tools are rejected", () => {
  const custom = { type: "custom" as const, name: "ask", description: "", input_schema: { type: "object" as const } };
  expect(() => resolveTools([custom, custom], [])).toThrow(/custom tool "ask" is there twice/);
  expect(() => toolset({ configs: [{ name: "bash" }, { name: "bash" }] })).toThrow(/twice/);
});
