import type { SessionAgent, ThreadAgent } from "@tandem/protocol";

/** The agents that a session's agent may call by name. */
export function rosterOf({ multiagent }: SessionAgent): ThreadAgent[] {
  if (!multiagent) return [];
  if (multiagent.type === "coordinator") return multiagent.agents;
  return multiagent.subagents.type === "enabled" ? multiagent.subagents.predefined_agents : [];
}
