import type { AccountInfo, Options, SDKSystemMessage } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import type { Credential } from "./credential.ts";
import { overridingVariables } from "./variables.ts";

/** The name of our one MCP server; the model sees its tools as `mcp__tandem__NAME`. */
export const TOOL_SERVER = "tandem";

export const toolId = (name: string): string => `mcp__${TOOL_SERVER}__${name}`;

export type Effort = "low" | "medium" | "high";

/** Plugins that Claude Code brings itself. Turned off, and tolerated by name where a release lists them all the same. */
export const BUILTIN_PLUGINS = [
  "cc-plugin-agents-md",
  "cc-plugin-privacy",
  "cc-plugin-plugin-authoring",
  "cc-plugin-sec-default",
];

/** Tools that the SDK is known to list beside those it was given. They do nothing that leaves the conversation. */
const PLACEHOLDER_TOOLS = new Set(["DeferredToolPlaceholder"]);

/** Insurance only: what is not in `tools` is not offered. */
export const BUILTIN_TOOLS = [
  ...["Agent", "Task", "Bash", "BashOutput", "KillShell", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep"],
  ...[
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskStop",
    "TaskOutput",
  ],
  ...["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", "Skill", "SlashCommand"],
  ...["ToolSearch", "Monitor", "SendMessage", "CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "Workflow"],
];

/**
 * The options of every isolated call, explicit even where they are the SDK's defaults today. Nothing is read from disk,
 * nothing is written there, nothing is offered but our tools, and every tool call asks `allowTool`.
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
    // Not `dontAsk`: that mode would deny our own tools without asking us, and naming them in `allowedTools` instead
    // would fix them for the life of the process and take `canUseTool` out of the path.
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
    // No messaging socket. An organisation's managed policy still applies: nothing that a user runs can turn it off.
    extraArgs: { restricted: null },
    includePartialMessages: true,
  };
}

/** Where Claude Code may say that its key came from. A login of a Console account works through a key of its own. */
const KEY_SOURCES: Record<Credential["type"], readonly string[]> = {
  login: ["none", "/login managed key"],
  api_key: ["ANTHROPIC_API_KEY"],
  oauth_token: ["none"],
};

/** Where it may say that its token came from; none, or a login that a key goes before. */
const TOKEN_SOURCES: Record<Credential["type"], readonly string[]> = {
  login: ["none", "claude.ai"],
  api_key: ["none", "claude.ai"],
  oauth_token: ["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"],
};

/** Throws `isolation_breached` if somebody else would pay. Known before the first message, so that nothing is spent. */
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
 * What Claude Code came up with and was not asked for. Skills, agents and slash commands are not compared: it lists what it
 * has found, not what it offers.
 */
export function foreignParts(
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

/** Compares what Claude Code says it came up with to what we asked for, and throws `isolation_breached` on any difference. */
export function checkInit(init: Init, expected: { toolNames: readonly string[]; credential: Credential }): void {
  const wanted = new Set(expected.toolNames.map(toolId));
  const breaches = [
    ...foreignParts(init, expected.credential, {
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
