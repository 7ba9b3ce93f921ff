import type { DeploymentCreateParams } from "@anthropic-ai/sdk/resources/beta/deployments";
import type { Probes, SweepStage } from "../probe.ts";

const create = async (stage: SweepStage, params: Partial<DeploymentCreateParams> = {}) =>
  stage.client.beta.deployments.create({
    name: "sweep",
    agent: await stage.agent(),
    environment_id: "env_local",
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello" }] }],
    schedule: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    ...params,
  });

/** A run without a session: nothing has to answer it. */
async function run(stage: SweepStage) {
  const { environments, deployments } = stage.client.beta;
  const { id: environment_id } = await environments.create({ name: "archived" });
  const { id } = await create(stage, { environment_id });
  await environments.archive(environment_id);
  return deployments.run(id);
}

export const deployments: Probes = {
  "beta.deployments.create": {
    run: (_, stage) => create(stage),
    note: "`tandem.` keys of `metadata` are settings of each session; no jitter",
  },
  "beta.deployments.retrieve": async (client, stage) => client.beta.deployments.retrieve((await create(stage)).id),
  "beta.deployments.update": async (client, stage) =>
    client.beta.deployments.update((await create(stage)).id, { schedule: null, metadata: { team: "a" } }),
  "beta.deployments.list": (client) => client.beta.deployments.list({ limit: 2 }),
  "beta.deployments.archive": async (client, stage) => client.beta.deployments.archive((await create(stage)).id),
  "beta.deployments.pause": async (client, stage) => client.beta.deployments.pause((await create(stage)).id),
  "beta.deployments.unpause": async (client, stage) => client.beta.deployments.unpause((await create(stage)).id),
  "beta.deployments.run": (_, stage) => run(stage),
  "beta.deploymentRuns.retrieve": async (client, stage) => client.beta.deploymentRuns.retrieve((await run(stage)).id),
  "beta.deploymentRuns.list": {
    run: (client) => client.beta.deploymentRuns.list({ limit: 2 }),
    note: "a scheduled time that was missed is a run with `session_creation_rejected_error` and `tandem.missed`",
  },
};
