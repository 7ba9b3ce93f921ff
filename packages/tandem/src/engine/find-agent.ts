import {
  isId,
  nearest,
  RequestError,
  TandemError,
  type Agent,
  type AgentCreateParams,
  type LlmConfig,
} from "@tandem/protocol";
import { listAll } from "@tandem/storage/read-all";
import type { Engine } from "@tandem/sessions";

/** The agents of a local engine or of a server. */
export interface AgentClient {
  agents: Pick<Engine["agents"], "create" | "get" | "list" | "update">;
}

/** Finds an agent by id, or by a unique name. */
export async function findAgent(client: AgentClient, idOrName: string, version?: number): Promise<Agent> {
  if (isId("agent", idOrName)) return client.agents.get(idOrName, version);
  const found: Agent[] = [];
  const names: string[] = [];
  for await (const agent of listAll((query) => client.agents.list(query))) {
    names.push(agent.name);
    if (agent.name === idOrName) found.push(agent);
  }
  const [agent, ...others] = found;
  if (!agent) {
    const meant = nearest(idOrName, names);
    throw new RequestError("not_found", `There is no agent ${idOrName}.`, {
      fix: meant ? `Did you mean ${meant}?` : "List them with `tandem agents list`.",
    });
  }
  if (others.length > 0) {
    throw new TandemError("usage", `${found.length} agents have the name ${idOrName}.`, {
      fix: `Name one by its id: ${found.map(({ id }) => id).join(", ")}.`,
    });
  }
  return version === undefined ? agent : client.agents.get(agent.id, version);
}

/** The configured model and effort at the time of creation. */
const MADE_WITH = "tandem.model";
const NAME = "tandem run";
/** Omitted keys mean enabled. Workflow runs can cost much, so an agent has them only on request. */
const WITH_SUBAGENTS = { type: "multiagent_20261001" as const, workflows: { type: "disabled" as const } };

export interface SessionAgentChoice {
  agent: Agent;
  /** Overrides the agent's model for the session. */
  model: AgentCreateParams["model"] | undefined;
}

/** The default agent of `tandem run`: created once with the configured model, then reused. */
export async function defaultAgent(client: AgentClient, llm: LlmConfig): Promise<SessionAgentChoice> {
  const { effort } = llm.claudeCode;
  const model = { id: llm.models.default, ...(effort && { effort }) };
  const name = [model.id, effort].filter(Boolean).join(" ");
  for await (const agent of listAll((query) => client.agents.list(query))) {
    const madeWith = agent.metadata[MADE_WITH];
    if (agent.name !== NAME || madeWith === undefined) continue;
    // 0.1.0 made it without subagents.
    const current =
      agent.multiagent === null ? await client.agents.update(agent.id, { multiagent: WITH_SUBAGENTS }) : agent;
    return { agent: current, model: madeWith === name ? undefined : model };
  }
  const agent = await client.agents.create({
    name: NAME,
    description: "Created by `tandem run` for prompts without an agent.",
    model,
    tools: [{ type: "agent_toolset_20260401" }],
    multiagent: WITH_SUBAGENTS,
    metadata: { [MADE_WITH]: name },
  });
  return { agent, model: undefined };
}
