import type { ConversationSetup, HostServer, SubagentDefinition } from "@tandem/claude-code";
import { SESSION_METADATA, type SessionAgent, type ThreadAgent } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { offeredTools } from "@tandem/policy";
import { z } from "zod";
import { askingTools } from "../approvals/asking-tools.ts";
import { rosterOf } from "../log/agent-roster.ts";
import { agentsOfFiles } from "../commands/agent-files.ts";
import { hostServersOf } from "../mcp/host-servers-of.ts";
import type { ProcessSettings } from "./process-settings.ts";
import type { ProcessSetup } from "./process-setup.ts";
import { readOnlyMounts } from "../mounts/read-only-mounts.ts";
import { describeMounts } from "../mounts/describe-mounts.ts";
import { canRead } from "../skills/agent-skills.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import { workerTools } from "../work/worker-tools.ts";
import { workflowsOf } from "../log/open-runs.ts";
import { trustedConfig } from "../trust/folder-trust.ts";
import { turnOptions } from "./turn-options.ts";
import { worktreeAt, worktreeVariables } from "../host/worktree-registry.ts";

/** The setup of the Claude Code process of a session. */
export async function conversationSetup(
  row: SessionRow,
  conversation: Pick<ConversationSetup, "id" | "resume" | "continuation">,
  settings: ProcessSettings,
  processSetup: ProcessSetup & { skills: SessionSkills },
  /** Clients' system messages. */
  added: readonly string[] = [],
): Promise<ConversationSetup> {
  const { agent, metadata } = row;
  const { model, effort, planning } = turnOptions(row, settings);
  const worktree = await worktreeAt(settings.stateFolder, row.folder);
  const roster = rosterOf(agent);
  const hasSubagents = roster.length > 0 || hasInlineAgents(agent);
  // How a worker would run the calls of a run's agents is not tested.
  const workflows = row.selfHosted ? undefined : workflowsOf(agent);
  const ofWorkflows = (workflows?.predefined_agents ?? []).filter(
    ({ name }) => !roster.some((each) => each.name === name),
  );
  const ofFiles = hasSubagents
    ? await agentsOfFiles(await trustedConfig(settings, row.folder), settings.userFolders ?? [])
    : [];
  const { selfHosted = false } = row;
  const { names: skills } = processSetup.skills;
  // The worker has the skills of a self-hosted session.
  const skillsFolder = selfHosted ? undefined : processSetup.skills.folder;
  const place = selfHosted ? describeWorker(row, skills) : describeMounts(row);
  const system = [agent.system, place, ...added].filter(Boolean).join("\n\n");
  const hasSkills = skillsFolder !== undefined || (!selfHosted && processSetup.tools.includes(SKILL_TOOL));
  const outputSchema = metadata[SESSION_METADATA.outputSchema];
  const maxTurns = metadata[SESSION_METADATA.maxTurns];
  const hostServers = (await hostServersOf(row, settings)).filter(
    ({ name }) => !agent.mcp_servers.some((server) => server.name === name),
  );
  return {
    executable: settings.executable,
    credential: await settings.credential(),
    hostVariables: settings.hostVariables,
    ...(worktree && { variables: worktreeVariables(worktree) }),
    stateFolder: settings.stateFolder,
    folder: row.folder,
    model,
    ...(effort !== undefined && { effort }),
    planning,
    ...(system && { system }),
    replaceSystem: metadata[SESSION_METADATA.system] === "replace",
    tools: [
      ...offeredTools(selfHosted ? [] : agent.tools, hasSubagents),
      ...(workflows ? ["Workflow"] : []),
      ...askingTools(row, planning),
      ...(hasSkills ? [SKILL_TOOL] : []),
    ],
    ...(selfHosted && { workerTools: workerTools(agent.tools) }),
    customTools: agent.tools.filter((tool) => tool.type === "custom"),
    ...processSetup.setup,
    readOnly: selfHosted ? [] : readOnlyMounts(row),
    ...(skillsFolder !== undefined && { agentSkills: { folder: skillsFolder, names: skills } }),
    hostServers,
    subagents: [
      ...[...roster, ...ofWorkflows].map((each) => asSubagent(each, hostServers, { hasSkills, selfHosted })),
      ...(hasInlineAgents(agent) ? [INLINE] : []),
      ...ofFiles.filter(
        ({ name }) => name !== INLINE.name && ![...roster, ...ofWorkflows].some((each) => each.name === name),
      ),
    ],
    ...(workflows && {
      workflows: {
        inline: workflows.inline_agents.type === "enabled",
        agents: workflows.predefined_agents.map(({ name }) => name),
        excluded: roster.map(({ name }) => name),
      },
    }),
    builtinAgents: hasInlineAgents(agent),
    ...(outputSchema && { outputSchema: jsonObject.parse(JSON.parse(outputSchema)) }),
    ...(maxTurns && { maxTurns: Number(maxTurns) }),
    ...conversation,
    primaryThread: row.primaryThread,
    yields: settings.fleet !== undefined,
    deadlines: settings.deadlines,
  };
}

/** Claude Code's name for an inline subagent; it has the tools of the session's own agent. */
const INLINE: SubagentDefinition = {
  name: "general-purpose",
  description: "For any task that can be described in its prompt.",
  system: "You are a subagent. Do the task that you are given, and end with a report of what you found or did.",
};

const SKILL_TOOL = "Skill";

export const jsonObject = z.record(z.string(), z.unknown());

const hasInlineAgents = ({ multiagent }: SessionAgent): boolean =>
  multiagent?.type === "multiagent_20261001" &&
  multiagent.subagents.type === "enabled" &&
  multiagent.subagents.inline_agents.type === "enabled";

function asSubagent(
  agent: ThreadAgent,
  hostServers: readonly HostServer[],
  { hasSkills, selfHosted }: { hasSkills: boolean; selfHosted: boolean },
): SubagentDefinition {
  return {
    name: agent.name,
    description: agent.description ?? agent.name,
    system: agent.system ?? "",
    model: agent.model.id,
    ...(agent.model.effort && { effort: agent.model.effort.type }),
    tools: [
      ...offeredTools(selfHosted ? [] : agent.tools, false),
      // Without `Read`, a subagent could not follow a skill.
      ...(hasSkills && canRead(agent.tools) ? [SKILL_TOOL] : []),
      ...[...agent.mcp_servers, ...hostServers].map(({ name }) => `mcp__${name}`),
    ],
    ...(selfHosted && { workerTools: workerTools(agent.tools).map(({ name }) => name) }),
  };
}

/** The part of the system prompt that says where the tools run, and which paths the worker provides. */
function describeWorker({ resources }: Pick<SessionRow, "resources">, skills: readonly string[]): string {
  const memories = resources.flatMap((resource) => {
    if (resource.type !== "memory_store") return [];
    const { mount_path: mount, name, description, instructions, access } = resource;
    const kind = access === "read_only" ? "read-only" : "your changes are saved";
    const words = [description, instructions].filter((text) => text).map((text) => `\n  ${text}`);
    return [`- ${mount} (the memory store ${JSON.stringify(name)}, ${kind})${words.join("")}`];
  });
  const folders = skills.map(
    (name) => `- skills/${name}/SKILL.md (a skill of yours: read it before a task that it is for)`,
  );
  return [
    "# Where your tools run",
    "Your tools run on another machine, in its own working folder. The folder and the platform that this prompt names elsewhere are those of the machine that you are called from, and no tool reaches them. Use relative paths for the working folder; find out about the machine with your tools.",
    ...(memories.length + folders.length > 0 ? ["These paths are there:", ...folders, ...memories] : []),
  ].join("\n");
}
