import {
  TOOLSET_TOOLS,
  type Evaluation,
  type Permission,
  type PermissionPolicy,
  type Tool,
  type ToolsetTool,
} from "@tandem/protocol";
import type { Decision } from "./decision.ts";

/** MCP tools that the host itself offers to every session. No agent's policy names them. */
export interface HostedTools {
  name: string;
  /** `readsPath`: the input field with a path that the tool reads. */
  tools: readonly { name: string; readOnly: boolean; readsPath?: string }[];
}

/** Claude Code's tools for each tool of Anthropic's toolset, with their helper tools. */
const CLAUDE_TOOLS: Record<ToolsetTool, readonly string[]> = {
  bash: ["Bash", "BashOutput", "KillShell", "Monitor"],
  edit: ["Edit", "NotebookEdit"],
  read: ["Read"],
  write: ["Write"],
  glob: ["Glob"],
  grep: ["Grep"],
  web_fetch: ["WebFetch"],
  web_search: ["WebSearch"],
};

/** Tools without an effect outside the conversation: to-do lists and the state of the agent's own tasks. */
const BOOKKEEPING = ["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop"];

/**
 * Starting a subagent or a workflow run, or reading a skill, has no effect of its own: every call it leads to is judged
 * separately.
 */
const SUBAGENT_TOOLS = new Set(["Agent", "Task", "SendMessage", "Skill", "Workflow"]);

/** The built-in tools that an agent may see, by Claude Code's names. */
export function offeredTools(tools: readonly Tool[], hasSubagents: boolean): string[] {
  const toolset = tools.find((tool) => tool.type === "agent_toolset_20260401");
  const subagents = hasSubagents ? ["Agent", "SendMessage"] : [];
  if (!toolset) return subagents;
  const enabled = TOOLSET_TOOLS.filter(
    (name) => (toolset.configs.find((config) => config.name === name) ?? toolset.default_config).enabled,
  );
  return [...enabled.flatMap((name) => CLAUDE_TOOLS[name]), ...BOOKKEEPING, ...subagents];
}

/** The decision of an agent's tool policy. Unknown tools ask. */
export function decide(tools: readonly Tool[], call: { name: string; mcpServer?: string }): Decision {
  if (call.mcpServer !== undefined) {
    const toolset = tools.find((tool) => tool.type === "mcp_toolset" && tool.mcp_server_name === call.mcpServer);
    if (toolset?.type !== "mcp_toolset") return { permission: "ask", evaluation: { type: "always_ask" } };
    return judge(toolset.configs.find(({ name }) => name === call.name) ?? toolset.default_config);
  }
  if (BOOKKEEPING.includes(call.name) || SUBAGENT_TOOLS.has(call.name)) return { permission: "allow" };
  const toolset = tools.find((tool) => tool.type === "agent_toolset_20260401");
  if (!toolset) return { permission: "deny" };
  const known = TOOLSET_TOOLS.find((name) => CLAUDE_TOOLS[name].includes(call.name));
  if (!known) return { permission: "ask", evaluation: { type: "always_ask" } };
  return judge(toolset.configs.find(({ name }) => name === known) ?? toolset.default_config);
}

/** The decision for the host's own tools; undefined for all other tools. */
export function decideHosted(
  servers: readonly HostedTools[],
  call: { name: string; mcpServer?: string },
): Decision | undefined {
  const server = servers.find(({ name }) => name === call.mcpServer);
  if (!server) return undefined;
  const tool = server.tools.find(({ name }) => name === call.name);
  if (!tool) return { permission: "deny" };
  return tool.readOnly
    ? { permission: "allow", evaluation: { type: "always_allow" } }
    : { permission: "ask", evaluation: { type: "always_ask" } };
}

const STRICTNESS = ["allow", "ask", "deny"] as const;

/** A subagent never has more rights than its caller: the stricter decision of the two applies. */
export function stricter(a: Decision, b: Decision): Decision {
  return STRICTNESS.indexOf(a.permission) >= STRICTNESS.indexOf(b.permission) ? a : b;
}

function judge(policy: { enabled: boolean; permission_policy: PermissionPolicy }): Decision {
  if (!policy.enabled) return { permission: "deny" };
  switch (policy.permission_policy.type) {
    case "always_allow":
      return { permission: "allow", evaluation: { type: "always_allow" } };
    case "always_ask":
      return { permission: "ask", evaluation: { type: "always_ask" } };
    case "auto":
      return { permission: "ask", evaluation: autoEvaluation("ask") };
  }
}

/** The evaluation under the policy `auto`, which always agrees with the decision. */
export function autoEvaluation(permission: Permission): Extract<Evaluation, { type: "auto" }> {
  switch (permission) {
    case "allow":
      return { type: "auto", evaluated_permission: { type: "allow" } };
    case "ask":
      return { type: "auto", evaluated_permission: { type: "ask", reason_code: "indeterminate" } };
    case "deny":
      return { type: "auto", evaluated_permission: { type: "deny", reason_code: "high_risk" } };
  }
}
