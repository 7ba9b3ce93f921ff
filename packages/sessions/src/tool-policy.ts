import type { Decision, HostServer } from "@tandem/claude-code";
import { TOOLSET_TOOLS, type Tool, type ToolsetTool } from "@tandem/protocol";

/** What each tool of Anthropic's toolset is in Claude Code, its helpers included. */
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

/** Tools that change nothing outside of the conversation: lists of what is to do, and looking at one's own tasks. */
const BOOKKEEPING = ["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop"];

/** Calling a subagent or reading a skill does nothing by itself: each call that comes of it is judged like any other. */
const SUBAGENT_TOOLS = new Set(["Agent", "Task", "SendMessage", "Skill"]);

/** Which built-in tools an agent is offered, in Claude Code's names. */
export function offeredTools(tools: readonly Tool[], hasSubagents: boolean): string[] {
  const toolset = tools.find((tool) => tool.type === "agent_toolset_20260401");
  const subagents = hasSubagents ? ["Agent", "SendMessage"] : [];
  if (!toolset) return subagents;
  const enabled = TOOLSET_TOOLS.filter(
    (name) => (toolset.configs.find((config) => config.name === name) ?? toolset.default_config).enabled,
  );
  return [...enabled.flatMap((name) => CLAUDE_TOOLS[name]), ...BOOKKEEPING, ...subagents];
}

/** Whether a call may run, must be asked for, or is not the agent's to make. What nobody has thought of is asked for. */
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

/** The same of the host's own tools, which no policy names; undefined for all others. */
export function decideHosted(
  servers: readonly HostServer[],
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

/** What a subagent may do, its caller may do too: the stricter of both decides. */
export function stricter(a: Decision, b: Decision): Decision {
  return STRICTNESS.indexOf(a.permission) >= STRICTNESS.indexOf(b.permission) ? a : b;
}

function judge(policy: { enabled: boolean; permission_policy: { type: string } }): Decision {
  if (!policy.enabled) return { permission: "deny" };
  return policy.permission_policy.type === "always_allow"
    ? { permission: "allow", evaluation: { type: "always_allow" } }
    : { permission: "ask", evaluation: { type: "always_ask" } };
}
