import type { AgentUpdateParams, Multiagent } from "@tandem/protocol";

type Params = AgentUpdateParams["multiagent"];
type Spawning = Extract<NonNullable<Params>, { type: "multiagent_20261001" }>["subagents"];

/**
 * Merges an update of `multiagent` level by level, as the official API does: an omitted key keeps its stored value, null takes
 * the default, and an object of another type replaces the stored one.
 */
export function mergeMultiagent(stored: Multiagent | null, update: Params): Params {
  if (update === undefined) return stored;
  if (update?.type !== "multiagent_20261001" || stored?.type !== "multiagent_20261001") return update;
  return {
    type: update.type,
    advisor: update.advisor === undefined ? stored.advisor : update.advisor,
    subagents: mergeSpawning(stored.subagents, update.subagents),
    workflows: mergeSpawning(stored.workflows, update.workflows),
  };
}

function mergeSpawning(stored: NonNullable<Spawning>, update: Spawning): Spawning {
  if (update === undefined) return stored;
  if (update?.type !== "enabled" || stored.type !== "enabled") return update;
  const { inline_agents: inline = stored.inline_agents, predefined_agents: agents = stored.predefined_agents } = update;
  return { type: "enabled", inline_agents: inline, predefined_agents: agents };
}
