import type { AccountInfo, Options, SDKSystemMessage } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import type { Credential } from "./credential.ts";
import { overridingVariables } from "./variables.ts";

/** Name of our MCP server; the model sees its tools as `mcp__tandem__NAME`. */
export const TOOL_SERVER = "tandem";

export const toolId = (name: string): string => `mcp__${TOOL_SERVER}__${name}`;

export type Effort = "low" | "medium" | "high";

/** Claude Code's built-in plugins. They are disabled, and tolerated by name if a release lists them anyway. */
export const BUILTIN_PLUGINS = [
  "cc-plugin-agents-md",
  "cc-plugin-privacy",
  "cc-plugin-plugin-authoring",
  "cc-plugin-sec-default",
];

/** Tools that the SDK lists in addition to the requested ones. They have no effect outside of the conversation. */
const PLACEHOLDER_TOOLS = new Set(["DeferredToolPlaceholder"]);

/** Defence in depth: tools that are not in `tools` are not offered anyway. */
export const BUILTIN_TOOLS =
  `Agent Task Bash BashOutput KillShell Read Edit Write NotebookEdit Glob Grep WebFetch WebSearch
  TodoWrite TaskCreate TaskUpdate TaskList TaskGet TaskStop TaskOutput AskUserQuestion EnterPlanMode
  ExitPlanMode EnterWorktree ExitWorktree Skill SlashCommand ToolSearch Monitor SendMessage CronCreate
  CronDelete CronList ScheduleWakeup Workflow`.split(/\s+/);

/**
 * Options of every isolated call, explicit even where they equal the SDK's defaults. Nothing is read from or written to
 * disk, only our tools are offered, and every tool call asks `allowTool`.
 */
export function isolatedOptions(settings: {
  folder: string;
  variables: Record<string, string>;
  credential: Credential;
  system: string | undefined;
  effort?: Effort;
  allowTool: (toolId: string) => boolean;
}): Options {
  return {
    cwd: settings.folder,
    env: settings.variables,
    systemPrompt: settings.system ?? "",
    ...(settings.effort && { effort: settings.effort }),
    settingSources: [],
    skills: [],
    plugins: [],
    tools: [],
    disallowedTools: BUILTIN_TOOLS,
    mcpServers: {},
    strictMcpConfig: true,
    persistSession: false,
    // Not `dontAsk`: it would deny our own tools without asking. Listing them in `allowedTools` instead would fix them
    // for the life of the process and bypass `canUseTool`.
    permissionMode: "default",
    canUseTool: async (name) =>
      settings.allowTool(name)
        ? { behavior: "allow" }
        : { behavior: "deny", message: `${name} is not one of the tools of this call.` },
    settings: {
      env: overridingVariables(settings.variables, settings.credential),
      autoMemoryEnabled: false,
      disableClaudeAiConnectors: true,
      enabledPlugins: Object.fromEntries(BUILTIN_PLUGINS.map((name) => [`${name}@builtin`, false])),
    },
    // No messaging socket. An organisation's managed policy still applies; users cannot disable it.
    extraArgs: { restricted: null },
    includePartialMessages: true,
  };
}

/** Accepted values of `apiKeySource`. A Console login works through an API key of its own. */
const KEY_SOURCES: Record<Credential["type"], readonly string[]> = {
  login: ["none", "/login managed key"],
  api_key: ["ANTHROPIC_API_KEY"],
  oauth_token: ["none"],
};

/** Accepted values of `tokenSource`: none, or a login that a key takes precedence over. */
const TOKEN_SOURCES: Record<Credential["type"], readonly string[]> = {
  login: ["none", "claude.ai"],
  api_key: ["none", "claude.ai"],
  oauth_token: ["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"],
};

/**
 * Throws `isolation_breached` if another account would be billed. Runs before the first message, so nothing is spent.
 */
export function checkPayer(account: AccountInfo, credential: Credential): void {
  const { apiKeySource = "none", tokenSource = "none", apiProvider = "firstParty" } = account;
  const expected =
    KEY_SOURCES[credential.type].includes(apiKeySource) &&
    TOKEN_SOURCES[credential.type].includes(tokenSource) &&
    apiProvider === "firstParty";
  if (expected) return;
  throw new LlmError(
    "isolation_breached",
    `Claude Code would be paid for by another credential (key: ${apiKeySource}, token: ${tokenSource}, by ${apiProvider}).`,
  );
}

export type Init = Pick<SDKSystemMessage, "tools" | "mcp_servers" | "plugins" | "apiKeySource" | "cwd">;

/**
 * Tools, servers and plugins that were not requested. Skills, agents and slash commands are not compared: Claude Code
 * lists those it has found, not those it offers.
 */
export function unrequestedParts(
  init: Init,
  credential: Credential,
  asked: {
    isOffered: (tool: string) => boolean;
    isServer: (name: string) => boolean;
    isPlugin?: (path: string) => boolean;
  },
): string[] {
  return [
    ...init.tools
      .filter((name) => !PLACEHOLDER_TOOLS.has(name) && !asked.isOffered(name))
      .map((name) => `the tool ${name}`),
    ...init.mcp_servers.filter(({ name }) => !asked.isServer(name)).map(({ name }) => `the MCP server ${name}`),
    ...init.plugins
      .filter((plugin) => !isBuiltin(plugin) && !asked.isPlugin?.(plugin.path))
      .map(({ name }) => `the plugin ${name}`),
    ...(KEY_SOURCES[credential.type].includes(init.apiKeySource)
      ? []
      : [`the credential source "${init.apiKeySource}"`]),
  ];
}

/** Compares Claude Code's init message to the requested setup, and throws `isolation_breached` on any difference. */
export function checkInit(init: Init, expected: { toolNames: readonly string[]; credential: Credential }): void {
  const wanted = new Set(expected.toolNames.map(toolId));
  const breaches = [
    ...unrequestedParts(init, expected.credential, {
      isOffered: (tool) => wanted.has(tool),
      isServer: (name) => name === TOOL_SERVER && wanted.size > 0,
    }),
    ...[...wanted].filter((name) => !init.tools.includes(name)).map((name) => `no tool ${name}`),
  ];
  if (breaches.length === 0) return;
  throw new LlmError(
    "isolation_breached",
    `Claude Code came up with ${breaches.join(", ")}, which this call did not ask for.`,
  );
}

const isBuiltin = (plugin: { name: string; path: string }): boolean =>
  plugin.path === "builtin" && BUILTIN_PLUGINS.includes(plugin.name);
