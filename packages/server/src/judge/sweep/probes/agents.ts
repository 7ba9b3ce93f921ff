import type { AgentCreateParams } from "@anthropic-ai/sdk/resources/beta/agents/agents";
import type { Probes, SweepStage } from "../probe.ts";

const basics = { name: "sweep", model: "claude-sonnet-5-5" } as const;
const create = (stage: SweepStage, params: Partial<AgentCreateParams> = {}) =>
  stage.client.beta.agents.create({ ...basics, ...params });

export const agents: Probes = {
  "beta.agents.create": {
    run: (_, stage) => create(stage, { tools: [{ type: "agent_toolset_20260401" }], metadata: { team: "sweep" } }),
    variants: {
      "`skills` of Anthropic": (_, stage) =>
        create(stage, {
          tools: [{ type: "agent_toolset_20260401" }],
          skills: [{ type: "anthropic", skill_id: "xlsx" }],
        }),
      "`model.inference_geo`": (_, stage) =>
        create(stage, { model: { id: "claude-sonnet-5-5", inference_geo: "us" } as never }),
      "`model.speed: fast`": (_, stage) => create(stage, { model: { id: "claude-sonnet-5-5", speed: "fast" } }),
    },
  },
  "beta.agents.retrieve": async (client, stage) => client.beta.agents.retrieve(await stage.agent()),
  "beta.agents.update": async (client, stage) => {
    const { id, version } = await create(stage);
    return client.beta.agents.update(id, { version, name: "renamed" });
  },
  "beta.agents.list": (client) => client.beta.agents.list({ limit: 2 }),
  "beta.agents.archive": async (client, stage) => client.beta.agents.archive(await stage.agent()),
  "beta.agents.versions.list": async (client, stage) => client.beta.agents.versions.list(await stage.agent()),
};
