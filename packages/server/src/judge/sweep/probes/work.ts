import type Anthropic from "@anthropic-ai/sdk";
import type { Probes, SweepStage } from "../probe.ts";

const item = { environment_id: "env_local" };
const keyOf = ({ server }: SweepStage) => ({ environmentId: "env_local", environmentKey: server.secret });

/** Ends a helper that retries: its second request aborts it. */
function untilRetry(client: Anthropic): { client: Anthropic; signal: AbortSignal } {
  const controller = new AbortController();
  let requests = 0;
  const counting: typeof fetch = (...args) => {
    requests += 1;
    if (requests > 1) controller.abort(new Error("The client's helper retries this for ever."));
    return fetch(...args);
  };
  return { client: client.withOptions({ fetch: counting }), signal: controller.signal };
}

export const work: Probes = {
  "beta.environments.work.retrieve": (client) => client.beta.environments.work.retrieve("work_none", item),
  "beta.environments.work.update": (client) =>
    client.beta.environments.work.update("work_none", { ...item, metadata: { a: "b" } }),
  "beta.environments.work.list": (client) => client.beta.environments.work.list("env_local"),
  "beta.environments.work.ack": (client) => client.beta.environments.work.ack("work_none", item),
  "beta.environments.work.heartbeat": (client) =>
    client.beta.environments.work.heartbeat("work_none", { ...item, expected_last_heartbeat: "NO_HEARTBEAT" }),
  "beta.environments.work.poll": (client) => client.beta.environments.work.poll("env_local"),
  "beta.environments.work.stats": (client) => client.beta.environments.work.stats("env_local"),
  "beta.environments.work.stop": (client) => client.beta.environments.work.stop("work_none", item),
  "beta.environments.work.poller": async (client, stage) => {
    const { client: once, signal } = untilRetry(client);
    const seen = [];
    for await (const found of once.beta.environments.work.poller({ ...keyOf(stage), signal })) seen.push(found);
    signal.throwIfAborted();
    return seen;
  },
  "beta.environments.work.worker": async (client, stage) => {
    const { client: once, signal } = untilRetry(client);
    await once.beta.environments.work.worker({ ...keyOf(stage), workdir: stage.folder, signal }).run();
    signal.throwIfAborted();
  },
};
