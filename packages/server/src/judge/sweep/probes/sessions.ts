import type { SessionCreateParams } from "@anthropic-ai/sdk/resources/beta/sessions/sessions";
import type { Probes, SweepStage } from "../probe.ts";

const create = async (stage: SweepStage, params: Partial<SessionCreateParams> = {}) =>
  stage.client.beta.sessions.create({ agent: await stage.agent(), environment_id: "env_local", ...params });

export const sessions: Probes = {
  "beta.sessions.create": {
    run: (_, stage) => create(stage, { title: "Sweep", metadata: { team: "sweep" } }),
    variants: {
      "`vault_ids`": (_, stage) => create(stage, { vault_ids: ["vlt_none"] }),
    },
  },
  "beta.sessions.retrieve": (client, stage) => client.beta.sessions.retrieve(stage.finished.session),
  "beta.sessions.update": {
    run: async (client, stage) => client.beta.sessions.update((await create(stage)).id, { title: "Renamed" }),
    variants: {
      "`vault_ids`": async (client, stage) =>
        client.beta.sessions.update((await create(stage)).id, { vault_ids: ["vlt_none"] }),
    },
  },
  "beta.sessions.list": (client) => client.beta.sessions.list({ limit: 2 }),
  "beta.sessions.delete": async (client, stage) => client.beta.sessions.delete((await create(stage)).id),
  "beta.sessions.archive": async (client, stage) => client.beta.sessions.archive((await create(stage)).id),
};
