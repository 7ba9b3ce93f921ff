import { realpathSync } from "node:fs";
import type { AgentDefinition, McpServerConfig, Options, Settings } from "@anthropic-ai/claude-agent-sdk";
import { LlmError } from "@tandem/protocol";
import { BUILTIN_PLUGINS, BUILTIN_TOOLS, unrequestedParts, type Init } from "../isolation.ts";
import { folderVariables, overridingVariables } from "../variables.ts";
import { isSandboxed, processCredential } from "./config-dir.ts";
import type { ConversationSetup, SubagentDefinition } from "./conversation.ts";
import { projectInstructions } from "./project-instructions.ts";
import { secretPaths } from "./secret-paths.ts";
import { serverNames, toolNames } from "./tool-names.ts";
import type { ToolNames } from "./translate/calls.ts";

type Hooks = NonNullable<Settings["hooks"]>;

/** The tool that returns the object of an output schema. */
export const OUTPUT_TOOL = "StructuredOutput";

/**
 * Options of a session's process, explicit even where they equal the SDK's defaults. Only CLAUDE.md is read from disk,
 * as text, and file tools stay in the folder. Settings of a trusted folder are passed in the settings that override all
 * files; Claude Code never loads them itself. The exception is skills, from a private copy. The caller adds the
 * stateful options: hooks, custom tools, the transcript store.
 */
export function sessionOptions(setup: ConversationSetup, variables: Record<string, string>, bootHooks: Hooks): Options {
  const { trusted } = setup;
  const skills = skillFolders(setup);
  const instructions = setup.ignoresInstructions ? undefined : projectInstructions(setup.folder);
  const words = [setup.system, instructions].filter((text) => text !== undefined).join("\n\n");
  const { $schema: _, ...schema } = setup.outputSchema ?? {};
  return {
    cwd: setup.folder,
    env: variables,
    model: setup.model,
    ...(setup.effort && { effort: setup.effort as NonNullable<Options["effort"]> }),
    // No snapshot: the current agent and CLAUDE.md apply to each process, not those of the first turn.
    systemPrompt: setup.replaceSystem
      ? { type: "custom", prompt: words, snapshot: false }
      : { type: "preset", preset: "claude_code", ...(words && { append: words }), snapshot: false },
    settingSources: [],
    skills: skills.length === 0 ? [] : "all",
    plugins: skills.map((path) => ({ type: "local", path })),
    // A skill refers the model to files beside it.
    additionalDirectories: skills,
    tools: [...setup.tools],
    disallowedTools: BUILTIN_TOOLS.filter((name) => !setup.tools.includes(name) && !ALIASES.has(name)),
    agents: Object.fromEntries(setup.subagents.map((agent) => [agent.name, asAgent(agent, toolNames(setup))])),
    strictMcpConfig: true,
    // In plan mode Claude Code would refuse a call that was allowed before.
    permissionMode: setup.planning && !setup.continuation?.run ? "plan" : "default",
    // Background tasks are listed and can be stopped one by one, so an interrupt ends only the turn.
    perTaskStopAffordance: true,
    includePartialMessages: true,
    forwardSubagentText: true,
    persistSession: true,
    ...(setup.resume ? { resume: setup.id } : { sessionId: setup.id }),
    ...(setup.maxTurns !== undefined && { maxTurns: setup.maxTurns }),
    // Claude Code exits on a `$schema` draft it does not know.
    ...(setup.outputSchema && { outputFormat: { type: "json_schema", schema } }),
    settings: {
      // Ours last: the folder cannot change the billing.
      env: { ...folderVariables(trusted?.variables), ...overridingVariables(variables, processCredential(setup)) },
      ...NO_HELPERS,
      hooks: joinHooks((trusted?.hooks ?? {}) as Hooks, bootHooks),
      ...(trusted && { permissions: { deny: [...trusted.denied] } }),
      // The gate is a hook itself.
      disableAllHooks: false,
      // Skills may embed shell commands that run before the model reads them; they would bypass the gate.
      disableSkillShellExecution: true,
      autoMemoryEnabled: false,
      // Billed above the list price.
      fastMode: false,
      // A login's plan would decide otherwise.
      ...(setup.workflows ? { enableWorkflows: true } : { disableWorkflows: true }),
      // The gate decides which tools run in plan mode, not a model.
      useAutoModeDuringPlan: false,
      sandbox: commandSandbox(setup),
      // The check asks a host of Anthropic, which the sandbox does not reach. The sandbox has its own list of hosts.
      ...(isSandboxed(setup) && { skipWebFetchPreflight: true }),
      disableClaudeAiConnectors: true,
      enabledPlugins: Object.fromEntries(BUILTIN_PLUGINS.map((name) => [`${name}@builtin`, false])),
    },
    // No messaging socket, and file tools restricted to the folder.
    extraArgs: { restricted: null },
    pathToClaudeCodeExecutable: programPath(setup),
  };
}

const joinHooks = (some: Hooks, others: Hooks): Hooks => {
  const joined = { ...some };
  for (const [event, hooks] of Object.entries(others) as [keyof Hooks, NonNullable<Hooks[keyof Hooks]>][]) {
    joined[event] = [...(joined[event] ?? []), ...hooks];
  }
  return joined;
};

/** Disables helper programs that settings could name as source of credentials or headers. */
const NO_HELPERS: Settings = {
  apiKeyHelper: "",
  proxyAuthHelper: "",
  otelHeadersHelper: "",
  awsCredentialExport: "",
  awsAuthRefresh: "",
  gcpAuthRefresh: "",
};

/** Claude Code's own sandbox. No command can opt out of it, and none is auto-approved because of it. */
function commandSandbox(setup: ConversationSetup): NonNullable<Settings["sandbox"]> {
  const { sandbox, readOnly = [] } = setup;
  if (!sandbox?.on || sandbox.covers === "process") return { enabled: false };
  return {
    enabled: true,
    failIfUnavailable: true,
    autoAllowBashIfSandboxed: false,
    allowUnsandboxedCommands: false,
    network: { allowedDomains: [...sandbox.domains], strictAllowlist: true },
    filesystem: { denyRead: secretPaths(setup), ...(readOnly.length > 0 && { denyWrite: [...readOnly] }) },
  };
}

/** Claude Code's executable. A sandbox shows the file itself, because a link to it, such as one in `~/.local/bin`, would dangle. */
export const programPath = (setup: ConversationSetup): string =>
  isSandboxed(setup) ? realpathSync(setup.executable) : setup.executable;

/** The plugin folders that contain skills. */
export const skillFolders = ({ trusted, agentSkills }: ConversationSetup): string[] =>
  [trusted?.skillsIn, agentSkills?.folder].filter((path) => path !== undefined);

/** One tool with two names: Claude Code lists one and calls the other. */
const ALIASES = new Set(["Task", "Agent"]);

export const remoteServers = (setup: ConversationSetup): Record<string, McpServerConfig> =>
  Object.fromEntries(
    setup.mcpServers.map(({ name, url, timeoutMs }) => [
      name,
      { type: "http" as const, url, timeout: timeoutMs, alwaysLoad: true },
    ]),
  );

const asAgent = (
  { description, system, model, effort, tools, workerTools = [] }: SubagentDefinition,
  { workerServer }: ToolNames,
): AgentDefinition => ({
  description,
  prompt: system,
  ...(model !== undefined && { model }),
  ...(effort !== undefined && { effort: effort as NonNullable<Options["effort"]> }),
  ...(tools && { tools: [...tools, ...workerTools.map((name) => `mcp__${workerServer}__${name}`)] }),
});

/** Throws `isolation_breached` if Claude Code started with more than requested, or with another payer. */
export function checkSessionInit(
  init: Init,
  setup: ConversationSetup,
  { customServer, workerServer }: ToolNames,
): void {
  const own = workerServer === undefined ? [customServer] : [customServer, workerServer];
  const servers = [...own, ...serverNames(setup)];
  const offered = new Set([...setup.tools, ...(setup.outputSchema ? [OUTPUT_TOOL] : [])]);
  if (offered.has("Agent")) offered.add("Task");
  const breaches = unrequestedParts(init, processCredential(setup), {
    isOffered: (tool) => offered.has(tool) || servers.some((server) => tool.startsWith(`mcp__${server}__`)),
    isServer: (name) => servers.includes(name),
    isPlugin: (path) => skillFolders(setup).includes(path),
  });
  if (breaches.length === 0) return;
  throw new LlmError(
    "isolation_breached",
    `Claude Code came up with ${breaches.join(", ")}, which this session did not ask for.`,
  );
}
