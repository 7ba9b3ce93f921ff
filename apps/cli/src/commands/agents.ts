import { agentCreateParams, agentUpdateParams, TOOLSET_TOOLS, type Agent, type Tool } from "@tandem/protocol";
import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { every, findAgent } from "@tandem/tandem/engine";
import { openClient } from "../sessions/open-client.ts";
import { readAgent, type AgentFlags } from "../sessions/read-agent.ts";
import { ago, toCount } from "../shown.ts";
import { printable, styleFor, table, wrap, write } from "../terminal.ts";

const COMMAND = "tandem agents";
const WIDTH = 100;

export async function list(context: Context, { all = false }: { all?: boolean }): Promise<void> {
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: COMMAND });
  const agents: Agent[] = [];
  for await (const agent of every((query) => client.agents.list(query), { includeArchived: all })) agents.push(agent);
  const { stdout, json } = context;
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

export async function show(context: Context, name: string, { agentVersion }: { agentVersion?: string }): Promise<void> {
  const version = agentVersion === undefined ? undefined : toCount("--agent-version", agentVersion);
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: COMMAND });
  await print(context, await findAgent(client, name, version));
}

export async function create(context: Context, flags: AgentFlags): Promise<void> {
  const project = await openProjectOrDefaults(context);
  const toolset = [{ type: "agent_toolset_20260401" as const }];
  const params = await readAgent(context.cwd, flags, {
    schema: agentCreateParams,
    base: { model: project.config.llm.models.default, tools: toolset },
    tools: toolset,
  });
  await using client = await openClient(context, project, { command: COMMAND });
  await print(context, await client.agents.create(params));
}

/** Adds a version. Sessions keep the one that they began with. */
export async function update(context: Context, name: string, flags: AgentFlags): Promise<void> {
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: COMMAND });
  const agent = await findAgent(client, name);
  const params = await readAgent(context.cwd, flags, { schema: agentUpdateParams, base: {}, tools: agent.tools });
  await print(context, await client.agents.update(agent.id, params));
}

export async function archive(context: Context, name: string): Promise<void> {
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: COMMAND });
  const agent = await client.agents.archive((await findAgent(client, name)).id);
  const { stdout, json } = context;
  await write(stdout, json ? `${JSON.stringify(agent, null, 2)}\n` : `${agent.id} is archived.\n`);
}

async function print({ stdout, json }: Context, agent: Agent): Promise<void> {
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
    ...agent.mcp_servers.map(({ name, url }, i) => [i === 0 ? dim("servers") : "", `${name}  ${dim(printable(url))}`]),
  ];
  const system = agent.system ? `\n${wrap(printable(agent.system), WIDTH).join("\n")}\n` : "";
  await write(stdout, `${table(rows).join("\n")}\n${system}`);
}

/** `allowed: read, glob`, and what asks or is off. */
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
