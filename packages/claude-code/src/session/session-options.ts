import type { AgentDefinition, McpServerConfig, Options, Settings } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import { BUILTIN_PLUGINS, BUILTIN_TOOLS, foreignParts, type Init } from "../isolation.ts";
import { foldersOwn, overridingVariables } from "../variables.ts";
import type { ConversationSetup, SubagentDefinition } from "./conversation.ts";
import { projectInstructions } from "./project-instructions.ts";
import { secretPaths } from "./secret-paths.ts";

/** The tool by which a model hands over the object of an output schema. */
export const OUTPUT_TOOL = "StructuredOutput";

/**
 * The options of a session's process, explicit even where they are the SDK's defaults today. Nothing is read from disk but
 * CLAUDE.md, as text, and no file outside of the folder is reached by the file tools. What a trusted folder brings is handed
 * over in the settings that override all files, never loaded by Claude Code itself: but for its skills, of which the host has
 * made a copy with nothing else in it. What depends on the conversation's state (hooks, custom tools, the transcript store)
 * is added by whoever starts it.
 */
export function sessionOptions(setup: ConversationSetup, variables: Record<string, string>): Options {
  const { trusted } = setup;
  const words = [setup.system, projectInstructions(setup.folder)].filter((text) => text !== undefined).join("\n\n");
  const { $schema: _, ...schema } = setup.outputSchema ?? {};
  return {
    cwd: setup.folder,
    env: variables,
    model: setup.model,
    ...(setup.effort && { effort: setup.effort as NonNullable<Options["effort"]> }),
    // Written anew for each process: what the agent and CLAUDE.md say now counts, not what they said at the first turn.
    systemPrompt: setup.replaceSystem
      ? { type: "custom", prompt: words, snapshot: false }
      : { type: "preset", preset: "claude_code", ...(words && { append: words }), snapshot: false },
    settingSources: [],
    skills: trusted?.skillsIn === undefined ? [] : "all",
    plugins: trusted?.skillsIn === undefined ? [] : [{ type: "local", path: trusted.skillsIn }],
    // A skill sends the model to files beside it.
    additionalDirectories: trusted?.skillsIn === undefined ? [] : [trusted.skillsIn],
    tools: [...setup.tools],
    disallowedTools: BUILTIN_TOOLS.filter((name) => !setup.tools.includes(name) && !ALIASES.has(name)),
    agents: Object.fromEntries(setup.subagents.map((agent) => [agent.name, asAgent(agent)])),
    strictMcpConfig: true,
    permissionMode: setup.planning ? "plan" : "default",
    // We list background tasks and can stop each; so an interrupt ends the turn alone.
    perTaskStopAffordance: true,
    includePartialMessages: true,
    forwardSubagentText: true,
    persistSession: true,
    ...(setup.resume ? { resume: setup.id } : { sessionId: setup.id }),
    ...(setup.maxTurns !== undefined && { maxTurns: setup.maxTurns }),
    // A schema that names its draft ends the process, where Claude Code does not know that draft.
    ...(setup.outputSchema && { outputFormat: { type: "json_schema", schema } }),
    settings: {
      // Ours last: whatever the folder says, it cannot say who pays.
      env: { ...foldersOwn(trusted?.variables), ...overridingVariables(variables, setup.credential) },
      ...NO_HELPERS,
      ...(trusted?.hooks && { hooks: trusted.hooks as NonNullable<Settings["hooks"]> }),
      ...(trusted && { permissions: { deny: [...trusted.denied] } }),
      // The gate is a hook, too.
      disableAllHooks: false,
      // A skill is words. What it would have run before the model sees them passes no gate.
      disableSkillShellExecution: true,
      autoMemoryEnabled: false,
      // What may run while it plans is for the gate to say, not for a model.
      useAutoModeDuringPlan: false,
      sandbox: setup.sandbox?.on ? sandboxSettings(setup, setup.sandbox.domains) : { enabled: false },
      disableClaudeAiConnectors: true,
      enabledPlugins: Object.fromEntries(BUILTIN_PLUGINS.map((name) => [`${name}@builtin`, false])),
    },
    // No messaging socket, and file tools that stay in the folder.
    extraArgs: { restricted: null },
    pathToClaudeCodeExecutable: setup.executable,
  };
}

/** Programs that settings could name to get credentials, or headers, from. */
const NO_HELPERS: Settings = {
  apiKeyHelper: "",
  proxyAuthHelper: "",
  otelHeadersHelper: "",
  awsCredentialExport: "",
  awsAuthRefresh: "",
  gcpAuthRefresh: "",
};

/** No command gets out of it by asking to, and none runs at once because it is in it. */
const sandboxSettings = (setup: ConversationSetup, domains: readonly string[]): NonNullable<Settings["sandbox"]> => ({
  enabled: true,
  failIfUnavailable: true,
  autoAllowBashIfSandboxed: false,
  allowUnsandboxedCommands: false,
  network: { allowedDomains: [...domains], strictAllowlist: true },
  filesystem: { denyRead: secretPaths(setup) },
});

/** The same tool under a second name: Claude Code lists the one and calls the other. */
const ALIASES = new Set(["Task", "Agent"]);

/** Of the MCP servers that a conversation asks for, remote ones and the host's own. */
export const serverNames = ({ mcpServers, connectedServers = [], hostServers = [] }: ConversationSetup): string[] =>
  [...mcpServers, ...connectedServers, ...hostServers].map(({ name }) => name);

export const remoteServers = (setup: ConversationSetup): Record<string, McpServerConfig> =>
  Object.fromEntries(
    setup.mcpServers.map(({ name, url, timeoutMs }) => [
      name,
      { type: "http" as const, url, timeout: timeoutMs, alwaysLoad: true },
    ]),
  );

const asAgent = ({ description, system, model, effort, tools }: SubagentDefinition): AgentDefinition => ({
  description,
  prompt: system,
  ...(model !== undefined && { model }),
  ...(effort !== undefined && { effort: effort as NonNullable<Options["effort"]> }),
  ...(tools && { tools: [...tools] }),
});

/** Throws `isolation_breached` if Claude Code came up with more than this conversation asked for, or another payer. */
export function checkSessionInit(init: Init, setup: ConversationSetup, customServer: string): void {
  const servers = serverNames(setup);
  const offered = new Set([...setup.tools, ...(setup.outputSchema ? [OUTPUT_TOOL] : [])]);
  if (offered.has("Agent")) offered.add("Task");
  const breaches = foreignParts(init, setup.credential, {
    isOffered: (tool) =>
      offered.has(tool) || [customServer, ...servers].some((server) => tool.startsWith(`mcp__${server}__`)),
    isServer: (name) => name === customServer || servers.includes(name),
    isPlugin: (path) => path === setup.trusted?.skillsIn,
  });
  if (breaches.length === 0) return;
  throw new LlmError(
    "isolation_breached",
    `Claude Code came up with ${breaches.join(", ")}, which this session did not ask for.`,
  );
}
