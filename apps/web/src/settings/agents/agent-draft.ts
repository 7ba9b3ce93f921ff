import type { Agent, AgentSkill, BodyInput, EFFORTS, Tool, ToolParams } from "@tandem/protocol";
import type { Option } from "../../ui/select.tsx";

type Effort = (typeof EFFORTS)[number];
type Toolset = Extract<Tool, { type: typeof TOOLSET }>;
type AgentParams = BodyInput<"agents.create">;

export interface AgentDraft {
  name: string;
  description: string;
  model: string;
  effort: Effort | "";
  system: string;
  policy: "always_allow" | "always_ask" | "auto" | "none";
  subagents: "enabled" | "disabled";
  skills: readonly AgentSkill[];
}

export const SUBAGENTS: readonly Option<AgentDraft["subagents"]>[] = [
  { value: "enabled", label: "On" },
  { value: "disabled", label: "Off" },
];

export const POLICIES: readonly Option<AgentDraft["policy"]>[] = [
  { value: "auto", label: "Allow harmless calls" },
  { value: "always_ask", label: "Ask for every call" },
  { value: "always_allow", label: "Allow every call" },
  { value: "none", label: "No built-in tools" },
];

const TOOLSET = "agent_toolset_20260401";
const MULTIAGENT = "multiagent_20261001";

function subagentsOf({ multiagent }: Agent): AgentDraft["subagents"] {
  if (!multiagent) return "disabled";
  return multiagent.type === "coordinator" ? "enabled" : multiagent.subagents.type;
}

export function draftOf(agent: Agent | undefined): AgentDraft {
  const toolset = agent?.tools.find((tool) => tool.type === TOOLSET);
  return {
    name: agent?.name ?? "",
    description: agent?.description ?? "",
    model: agent?.model.id ?? "",
    effort: agent?.model.effort?.type ?? "",
    system: agent?.system ?? "",
    policy: agent && !toolset ? "none" : (toolset?.default_config.permission_policy.type ?? "auto"),
    subagents: agent ? subagentsOf(agent) : "enabled",
    skills: agent?.skills ?? [],
  };
}

/** The request body. The form edits only the toolset's policy; custom tools and MCP toolsets stay unchanged. */
export function paramsOf(draft: AgentDraft, agent: Agent | undefined): AgentParams & { version?: number } {
  const others = agent?.tools.filter((tool) => tool.type !== TOOLSET) ?? [];
  const before = agent?.tools.find((tool) => tool.type === TOOLSET);
  const hasToolsChanged = draft.policy !== draftOf(agent).policy || !agent;
  return {
    name: draft.name.trim(),
    description: draft.description.trim() === "" ? null : draft.description.trim(),
    model: { id: draft.model, ...(draft.effort !== "" && { effort: draft.effort }) },
    system: draft.system.trim() === "" ? null : draft.system,
    ...(hasToolsChanged && { tools: draft.policy === "none" ? others : [toolsetOf(draft.policy, before), ...others] }),
    // The server merges it: a roster and settings that the form does not show stay.
    ...((!agent || draft.subagents !== subagentsOf(agent)) && {
      multiagent: {
        type: MULTIAGENT,
        subagents: { type: draft.subagents },
        ...(!agent && { workflows: { type: "disabled" } }),
      },
    }),
    ...(draft.skills !== draftOf(agent).skills && { skills: [...draft.skills] }),
    ...(agent && { version: agent.version }),
  };
}

function toolsetOf(policy: Exclude<AgentDraft["policy"], "none">, before: Toolset | undefined): ToolParams {
  if (before?.default_config.permission_policy.type === policy) return before;
  return { type: TOOLSET, default_config: { permission_policy: { type: policy } } };
}
