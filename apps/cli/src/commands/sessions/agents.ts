import { agentCreateParams, agentUpdateParams, TOOLSET_TOOLS, type Agent, type Tool } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { listAll, findAgent } from "@tandem/tandem/engine";
import { openClient } from "../../sessions/open-client.ts";
import { readAgent, SUBAGENT_CHOICES, subagentParams, type AgentFlags } from "../../sessions/read-agent.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, wrap, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";
import { TOOL_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const definition = (command: Command) =>
    command
      .option("--file <file>", "the whole definition, as YAML or JSON; other flags go over it")
      .option("--name <name>", "its name")
      .option("--description <text>", "what it is for")
      .option("-m, --model <name>", "its model")
      .option("-s, --system <text>", "what it is told beside Claude Code's own instructions")
      .option("--system-file <file>", "the same, from a file")
      .addOption(listOption("--allow <tools>", "tools that need not ask", TOOL_CHOICES))
      .addOption(listOption("--ask <tools>", "tools that ask each time", TOOL_CHOICES))
      .addOption(listOption("--without <tools>", "tools that it does not get", TOOL_CHOICES))
      .addOption(
        new Option(
          "--subagents <state>",
          "whether it may call subagents: yours, the folder's and Claude Code's",
        ).choices(SUBAGENT_CHOICES),
      )
      .addOption(json());
  examples(
    sub("list", "List agents, the newest first.")
      .option("--all", "archived ones too")
      .addOption(json())
      .action((options: { all?: boolean }, self: Command) => runner(self, (invocation) => list(invocation, options))),
    "tandem agents list",
  );
  examples(
    sub("show", "Print an agent's definition.")
      .argument("<agent>", "its id or name")
      .option("--agent-version <number>", "an older version")
      .addOption(json())
      .action((name: string, options: { agentVersion?: string }, self: Command) =>
        runner(self, (invocation) => show(invocation, name, options)),
      ),
    "tandem agents show reviewer",
    "tandem agents show reviewer --json > reviewer.json",
  );
  examples(
    definition(sub("create", "Define a new agent.")).action((flags: AgentFlags, self: Command) =>
      runner(self, (invocation) => create(invocation, flags)),
    ),
    'tandem agents create --name reviewer --model opus --system "You review code." --without edit,write',
    "tandem agents create --file reviewer.yaml",
  );
  examples(
    definition(
      sub("update", "Change an agent: adds a version; sessions keep the one they began with.").argument(
        "<agent>",
        "its id or name",
      ),
    ).action((name: string, flags: AgentFlags, self: Command) =>
      runner(self, (invocation) => update(invocation, name, flags)),
    ),
    "tandem agents update reviewer --allow bash",
  );
  examples(
    sub("archive", "Retire an agent: no session can begin with it any more.")
      .argument("<agent>", "its id or name")
      .addOption(json())
      .action((name: string, _options: object, self: Command) =>
        runner(self, (invocation) => archive(invocation, name)),
      ),
    "tandem agents archive reviewer",
  );
}

const COMMAND = "tandem agents";
const WIDTH = 100;

export async function list(invocation: Invocation, { all = false }: { all?: boolean }): Promise<void> {
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const agents: Agent[] = [];
  for await (const agent of listAll((query) => client.agents.list(query), { includeArchived: all })) agents.push(agent);
  const { stdout, json } = invocation;
  if (json) {
    await write(stdout, `${JSON.stringify({ agents }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(stdout);
  const rows = agents.map((agent) => [
    agent.id,
    bold(printable(agent.name)),
    agent.model.id,
    dim(`version ${agent.version}`),
    dim(agent.archived_at ? "archived" : ago(agent.updated_at)),
  ]);
  const none = dim("No agents yet. `tandem run` makes one for itself; `tandem agents create` makes yours.");
  await write(stdout, `${rows.length > 0 ? table(rows).join("\n") : none}\n`);
}

export async function show(
  invocation: Invocation,
  name: string,
  { agentVersion }: { agentVersion?: string },
): Promise<void> {
  const version = agentVersion === undefined ? undefined : toCount("--agent-version", agentVersion);
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
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
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const agent = await findAgent(client, name);
  const params = await readAgent(invocation.cwd, flags, { schema: agentUpdateParams, base: {}, tools: agent.tools });
  await print(invocation, await client.agents.update(agent.id, params));
}

export async function archive(invocation: Invocation, name: string): Promise<void> {
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const agent = await client.agents.archive((await findAgent(client, name)).id);
  const { stdout, json } = invocation;
  await write(stdout, json ? `${JSON.stringify(agent, null, 2)}\n` : `${agent.id} is archived.\n`);
}

async function print({ stdout, json }: Invocation, agent: Agent): Promise<void> {
  if (json) {
    await write(stdout, `${JSON.stringify(agent, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(stdout);
  const { model } = agent;
  const rows = [
    [dim("agent"), `${agent.id}  ${dim(`version ${agent.version}${agent.archived_at ? ", archived" : ""}`)}`],
    [dim("name"), bold(printable(agent.name))],
    ...(agent.description ? [[dim("description"), printable(agent.description)]] : []),
    [dim("model"), model.id + (model.effort ? dim(`  effort ${model.effort.type}`) : "")],
    ...agent.tools.flatMap(describeTool).map((line, i) => [i === 0 ? dim("tools") : "", line]),
    [dim("subagents"), hasSubagents(agent) ? "on" : "off"],
    ...agent.mcp_servers.map(({ name, url }, i) => [i === 0 ? dim("servers") : "", `${name}  ${dim(printable(url))}`]),
  ];
  const system = agent.system ? `\n${wrap(printable(agent.system), WIDTH).join("\n")}\n` : "";
  await write(stdout, `${table(rows).join("\n")}\n${system}`);
}

/** `allowed: read, glob`, then the tools that ask and the disabled ones. */
function describeTool(tool: Tool): string[] {
  if (tool.type === "custom") return [`${tool.name}  runs in your program`];
  const configs = new Map<string, { enabled: boolean; permission_policy: { type: string } }>(
    tool.configs.map((config) => [config.name, config]),
  );
  const names = tool.type === "mcp_toolset" ? [...configs.keys(), "all others"] : TOOLSET_TOOLS;
  const groups = Map.groupBy(names, (name) => {
    const { enabled, permission_policy: policy } = configs.get(name) ?? tool.default_config;
    if (!enabled) return "off";
    return policy.type === "always_allow" ? "allowed" : "asks first";
  });
  const server = tool.type === "mcp_toolset" ? `${tool.mcp_server_name}: ` : "";
  return [...groups].map(([policy, group]) => `${server}${group.join(", ")}  ${policy}`);
}

const hasSubagents = ({ multiagent }: Agent): boolean =>
  multiagent?.type === "coordinator" || multiagent?.subagents.type === "enabled";
