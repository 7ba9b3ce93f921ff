import type { SessionCreateParams } from "@anthropic-ai/sdk/resources/beta/sessions/sessions";
import type { Probes, SweepStage } from "../probe.ts";

const create = async (stage: SweepStage, params: Partial<SessionCreateParams> = {}) =>
  stage.client.beta.sessions.create({ agent: await stage.agent(), environment_id: "env_local", ...params });

export const sessions: Probes = {
  "beta.sessions.create": async (client, stage) => {
    const { id } = await client.beta.vaults.create({ display_name: "sweep" });
    return create(stage, { title: "Sweep", metadata: { team: "sweep" }, vault_ids: [id] });
  },
  "beta.sessions.retrieve": (client, stage) => client.beta.sessions.retrieve(stage.finished.session),
  "beta.sessions.update": async (client, stage) =>
    client.beta.sessions.update((await create(stage)).id, { title: "Renamed" }),
  "beta.sessions.list": (client) => client.beta.sessions.list({ limit: 2 }),
  "beta.sessions.delete": async (client, stage) => client.beta.sessions.delete((await create(stage)).id),
  "beta.sessions.archive": async (client, stage) => client.beta.sessions.archive((await create(stage)).id),
};
