import { agentCreateParams, agentUpdateParams, TOOLSET_TOOLS, type Agent, type Tool } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { listAll, findAgent } from "@tandem/tandem/engine";
import { clientFor, openClient } from "../../sessions/open-client.ts";
import { readAgent, SUBAGENT_CHOICES, subagentParams, type AgentFlags } from "../../sessions/read-agent.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, wrap, writeResult, writeTable } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";
import { TOOL_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const definition = (command: Command) =>
    command
      .option("--file <file>", "definition as YAML or JSON; other flags override it")
      .option("--name <name>", "name of the agent")
      .option("--description <text>", "purpose of the agent")
      .option("-m, --model <name>", "model")
      .option("-s, --system <text>", "instructions in addition to those of Claude Code")
      .option("--system-file <file>", "instructions from a file")
      .addOption(listOption("--allow <tools>", "tools that need no approval", TOOL_CHOICES))
      .addOption(listOption("--ask <tools>", "tools that need approval", TOOL_CHOICES))
      .addOption(listOption("--without <tools>", "tools that the agent does not get", TOOL_CHOICES))
      .addOption(new Option("--subagents <state>", "whether the agent may call subagents").choices(SUBAGENT_CHOICES))
      .addOption(json());
  examples(
    sub("list", "List agents, newest first.")
      .option("--all", "include archived agents")
      .addOption(json())
      .action(runner(list)),
    "tandem agents list",
  );
  examples(
    sub("show", "Print an agent's definition.")
      .argument("<agent>", "id or name of the agent")
      .option("--agent-version <number>", "version (default: the newest)")
      .addOption(json())
      .action(runner(show)),
    "tandem agents show reviewer",
    "tandem agents show reviewer --json > reviewer.json",
  );
  examples(
    definition(sub("add", "Add an agent.")).action(runner(create)),
    'tandem agents add --name reviewer --model opus --system "You review code." --without edit,write',
    "tandem agents add --file reviewer.yaml",
  );
  examples(
    definition(
      sub("set", "Change an agent as a new version. Existing sessions keep theirs.").argument(
        "<agent>",
        "id or name of the agent",
      ),
    ).action(runner(update)),
    "tandem agents set reviewer --allow bash",
  );
  examples(
    sub("archive", "Archive an agent. New sessions cannot use it.")
      .argument("<agent>", "id or name of the agent")
      .addOption(json())
      .action(runner(archive)),
    "tandem agents archive reviewer",
  );
}

const COMMAND = "tandem agents";
const open = clientFor(COMMAND);
const WIDTH = 100;

export async function list(invocation: Invocation, { all = false }: { all?: boolean }): Promise<void> {
  await using client = await open(invocation);
  const agents = await Array.fromAsync(listAll((query) => client.agents.list(query), { includeArchived: all }));
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = agents.map((agent) => [
    agent.id,
    bold(printable(agent.name)),
    agent.model.id,
    dim(`version ${agent.version}`),
    dim(agent.archived_at ? "archived" : ago(agent.updated_at)),
  ]);
  await writeTable(
    invocation,
    { agents },
    rows,
    "No agents yet. Add one with `tandem agents add`; `tandem run` creates its own.",
  );
}

export async function show(
  invocation: Invocation,
  name: string,
  { agentVersion }: { agentVersion?: string },
): Promise<void> {
  const version = agentVersion === undefined ? undefined : toCount("--agent-version", agentVersion);
  await using client = await open(invocation);
  await print(invocation, await findAgent(client, name, version));
}

export async function create(invocation: Invocation, flags: AgentFlags): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  const toolset = [{ type: "agent_toolset_20260401" as const }];
  const params = await readAgent(invocation.cwd, flags, {
    schema: agentCreateParams,
    base: { model: project.config.llm.models.default, tools: toolset, multiagent: subagentParams("on") },
    tools: toolset,
  });
  await using client = await openClient(invocation, project, { command: COMMAND });
  await print(invocation, await client.agents.create(params));
}

/** Adds a version. Running sessions keep their version. */
export async function update(invocation: Invocation, name: string, flags: AgentFlags): Promise<void> {
  await using client = await open(invocation);
  const agent = await findAgent(client, name);
  const params = await readAgent(invocation.cwd, flags, { schema: agentUpdateParams, base: {}, tools: agent.tools });
  await print(invocation, await client.agents.update(agent.id, params));
}

export async function archive(invocation: Invocation, name: string): Promise<void> {
  await using client = await open(invocation);
  const agent = await client.agents.archive((await findAgent(client, name)).id);
  await writeResult(invocation, agent, [`${agent.id} is archived.`]);
}

async function print(invocation: Invocation, agent: Agent): Promise<void> {
  const { dim, bold } = styleFor(invocation.stdout);
  const { model } = agent;
  const rows = [
    [dim("agent"), `${agent.id}  ${dim(`version ${agent.version}${agent.archived_at ? ", archived" : ""}`)}`],
    [dim("name"), bold(printable(agent.name))],
    ...(agent.description ? [[dim("description"), printable(agent.description)]] : []),
    [dim("model"), model.id + (model.effort ? dim(`  effort ${model.effort.type}`) : "")],
    ...agent.tools.flatMap(describeTool).map((line, i) => [i === 0 ? dim("tools") : "", line]),
    [dim("subagents"), hasSubagents(agent) ? "on" : "off"],
    ...agent.skills.map((skill, i) => [i === 0 ? dim("skills") : "", `${skill.skill_id}  ${dim(skill.version)}`]),
    ...agent.mcp_servers.map(({ name, url }, i) => [i === 0 ? dim("servers") : "", `${name}  ${dim(printable(url))}`]),
  ];
  const system = agent.system ? ["", ...wrap(printable(agent.system), WIDTH)] : [];
  await writeResult(invocation, agent, [...table(rows), ...system]);
}

/** `allowed: read, glob`, then the tools that ask and the disabled ones. */
function describeTool(tool: Tool): string[] {
  if (tool.type === "custom") return [`${tool.name}  runs in your program`];
  const configs = new Map<string, { enabled: boolean; permission_policy: { type: string } }>(
    tool.configs.map((config) => [config.name, config]),
  );
  const names = tool.type === "mcp_toolset" ? [...configs.keys(), "all other tools"] : TOOLSET_TOOLS;
  const groups = Map.groupBy(names, (name) => {
    const { enabled, permission_policy: policy } = configs.get(name) ?? tool.default_config;
    if (!enabled) return "off";
    return policy.type === "always_allow" ? "allowed" : "needs approval";
  });
  const server = tool.type === "mcp_toolset" ? `${tool.mcp_server_name}: ` : "";
  return [...groups].map(([policy, group]) => `${server}${group.join(", ")}  ${policy}`);
}

const hasSubagents = ({ multiagent }: Agent): boolean =>
  multiagent?.type === "coordinator" || multiagent?.subagents.type === "enabled";
