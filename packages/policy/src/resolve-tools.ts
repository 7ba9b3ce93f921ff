import {
  RequestError,
  TOOLSET_TOOLS,
  WEB_LIMITS,
  type McpServer,
  type PermissionPolicy,
  type Tool,
  type ToolParams,
  type ToolsetTool,
} from "@tandem/protocol";

type Toolset = Extract<Tool, { type: "agent_toolset_20260401" }>;
type Policy = { enabled: boolean; permission_policy: PermissionPolicy };
type PolicyParams = { enabled?: boolean | null; permission_policy?: PermissionPolicy | null };

const ALLOW: PermissionPolicy = { type: "always_allow" };
const ASK: PermissionPolicy = { type: "always_ask" };

/**
 * The policy of a toolset that states none. `ask_for_effects`: reading is allowed and every effect needs approval, because
 * agents run on the user's own machine. `always_allow`: the default of Anthropic's service, for an emulator.
 */
export type ToolsetDefault = "ask_for_effects" | "always_allow";

const LOOKING: ReadonlySet<ToolsetTool> = new Set(["read", "glob", "grep"]);

/** Fills in every default, so that readers of an agent's tools need not know the defaults. */
export function resolveTools(
  params: readonly ToolParams[],
  servers: readonly McpServer[],
  unstated: ToolsetDefault = "ask_for_effects",
): Tool[] {
  const seen = new Set<string>();
  return params.map((tool, index) => {
    const name = identify(tool);
    if (seen.has(name)) throw invalid(`tools[${index}]: ${name} is there twice`);
    seen.add(name);
    switch (tool.type) {
      case "agent_toolset_20260401":
        return resolveToolset(tool, index, unstated);
      case "mcp_toolset": {
        if (!servers.some((server) => server.name === tool.mcp_server_name)) {
          throw invalid(`tools[${index}].mcp_server_name: the agent has no MCP server "${tool.mcp_server_name}"`);
        }
        const fallback = resolvePolicy(tool.default_config, { enabled: true, permission_policy: ASK });
        return {
          type: tool.type,
          mcp_server_name: tool.mcp_server_name,
          default_config: fallback,
          configs: (tool.configs ?? []).map((config) => ({ name: config.name, ...resolvePolicy(config, fallback) })),
        };
      }
      case "custom":
        return tool;
    }
  });
}

function resolveToolset(
  tool: Extract<ToolParams, { type: "agent_toolset_20260401" }>,
  index: number,
  unstated: ToolsetDefault,
): Toolset {
  const stated = tool.default_config?.permission_policy ?? (unstated === "always_allow" ? ALLOW : undefined);
  const enabled = tool.default_config?.enabled ?? true;
  for (const [at, config] of (tool.configs ?? []).entries()) {
    checkWebLimits(config, `tools[${index}].configs[${at}]`);
  }
  const named = new Map((tool.configs ?? []).map((config) => [config.name, config]));
  if (named.size !== (tool.configs ?? []).length) throw invalid(`tools[${index}].configs: a tool is there twice`);
  // List a tool if it differs from the default or if the client named it.
  const configs = TOOLSET_TOOLS.filter((name) => named.has(name) || (!stated && LOOKING.has(name))).map((name) => {
    const fallback = { enabled, permission_policy: stated ?? (LOOKING.has(name) ? ALLOW : ASK) };
    const config = { type: name, name, ...resolvePolicy(named.get(name), fallback) };
    return name === "web_fetch" ? { ...config, url_sources: null } : config;
  });
  return { type: tool.type, default_config: { enabled, permission_policy: stated ?? ASK }, configs };
}

type ToolConfig = NonNullable<Extract<ToolParams, { type: "agent_toolset_20260401" }>["configs"]>[number];

/** Limits of the web tools in Anthropic's API. A limit that is not enforced must not be accepted. */
function checkWebLimits(config: ToolConfig, place: string): void {
  for (const name of WEB_LIMITS) {
    const value = config[name];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    const isDomains = name === "allowed_domains" || name === "blocked_domains";
    const fix = isDomains
      ? "Use rules: `tandem rules add allow 'web(example.com)'` and an agent whose web tools ask."
      : "Leave it out.";
    throw new RequestError("invalid_request", `${place}.${name}: Claude Code has no such limit of ${config.name}.`, {
      fix,
    });
  }
}

const resolvePolicy = (params: PolicyParams | null | undefined, fallback: Policy): Policy => ({
  enabled: params?.enabled ?? fallback.enabled,
  permission_policy: params?.permission_policy ?? fallback.permission_policy,
});

const identify = (tool: ToolParams): string => {
  switch (tool.type) {
    case "agent_toolset_20260401":
      return "the agent toolset";
    case "mcp_toolset":
      return `the toolset of "${tool.mcp_server_name}"`;
    case "custom":
      return `the custom tool "${tool.name}"`;
  }
};

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
