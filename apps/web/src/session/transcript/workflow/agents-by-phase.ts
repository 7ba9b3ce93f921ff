import type { PartOf } from "@tandem/protocol";

type WorkflowPart = PartOf<"workflow">;
export type WorkflowAgent = WorkflowPart["agents"][number];

interface PhaseAgents {
  /** Undefined for agents whose phase is unknown. */
  phase: WorkflowPart["phases"][number] | undefined;
  agents: readonly WorkflowAgent[];
}

/** The agents of each phase, in the order of the plan. */
export function agentsByPhase({ phases, agents }: WorkflowPart, isFailedOnly: boolean): PhaseAgents[] {
  const shown = isFailedOnly ? agents.filter(({ state }) => state === "failed") : agents;
  const known = new Set(phases.map(({ id }) => id));
  const of = Map.groupBy(shown, ({ phase }) => (phase !== null && known.has(phase) ? phase : ""));
  const groups: PhaseAgents[] = phases.map((phase) => ({ phase, agents: of.get(phase.id) ?? [] }));
  const others = of.get("");
  const all = others ? [{ phase: undefined, agents: others }, ...groups] : groups;
  return isFailedOnly ? all.filter((group) => group.agents.length > 0) : all;
}

export function countsOf(agents: readonly WorkflowAgent[]): Record<WorkflowAgent["state"], number> {
  const counts = { running: 0, waiting: 0, ended: 0, failed: 0 };
  for (const { state } of agents) counts[state] += 1;
  return counts;
}

/** The list price so far; undefined if no agent has a known price. */
export function costOf(agents: readonly WorkflowAgent[]): number | undefined {
  const priced = agents.flatMap(({ usd }) => usd ?? []);
  return priced.length > 0 ? priced.reduce((total, usd) => total + usd, 0) : undefined;
}
