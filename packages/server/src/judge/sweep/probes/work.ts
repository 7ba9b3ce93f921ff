import type Anthropic from "@anthropic-ai/sdk";
import type { Probes, SweepStage } from "../probe.ts";

/** A self-hosted environment, and the item of a session in it. */
async function queued(client: Anthropic, stage: SweepStage) {
  const { id: environment_id } = await client.beta.environments.create({
    name: "own",
    config: { type: "self_hosted" },
  });
  const initial_events = [{ type: "user.message" as const, content: [{ type: "text" as const, text: "Hello" }] }];
  await client.beta.sessions.create({ agent: await stage.agent(), environment_id, initial_events });
  const [item] = (await client.beta.environments.work.list(environment_id)).data;
  return { id: item!.id, at: { environment_id } };
}

/** The owner's token is accepted as a key, too. */
const keyOf = (environmentId: string, { server }: SweepStage) => ({ environmentId, environmentKey: server.secret });

/** Ends a helper that polls for ever, with its second poll. */
function untilSecondPoll(client: Anthropic): { client: Anthropic; signal: AbortSignal } {
  const controller = new AbortController();
  let polls = 0;
  const counting: typeof fetch = (input, init) => {
    if (String(input instanceof Request ? input.url : input).includes("/work/poll")) polls += 1;
    if (polls > 1) controller.abort();
    return fetch(input, init);
  };
  return { client: client.withOptions({ fetch: counting }), signal: controller.signal };
}

export const work: Probes = {
  "beta.environments.work.retrieve": async (client, stage) => {
    const { id, at } = await queued(client, stage);
    return client.beta.environments.work.retrieve(id, at);
  },
  "beta.environments.work.update": async (client, stage) => {
    const { id, at } = await queued(client, stage);
    return client.beta.environments.work.update(id, { ...at, metadata: { a: "b" } });
  },
  "beta.environments.work.list": async (client, stage) =>
    client.beta.environments.work.list((await queued(client, stage)).at.environment_id),
  "beta.environments.work.ack": async (client, stage) => {
    const { id, at } = await queued(client, stage);
    await client.beta.environments.work.poll(at.environment_id);
    return client.beta.environments.work.ack(id, at);
  },
  "beta.environments.work.heartbeat": {
    run: async (client, stage) => {
      const { id, at } = await queued(client, stage);
      await client.beta.environments.work.ack(id, at);
      return client.beta.environments.work.heartbeat(id, { ...at, expected_last_heartbeat: "NO_HEARTBEAT" });
    },
    variants: {
      "another heartbeat than the last": async (client, stage) => {
        const { id, at } = await queued(client, stage);
        await client.beta.environments.work.ack(id, at);
        return client.beta.environments.work.heartbeat(id, { ...at, expected_last_heartbeat: "2026-01-01T00:00:00Z" });
      },
    },
    note: "a lease lasts 90 seconds unless `desired_ttl_seconds` is given",
  },
  "beta.environments.work.poll": {
    run: async (client, stage) => client.beta.environments.work.poll((await queued(client, stage)).at.environment_id),
    variants: { "not self-hosted": (client) => client.beta.environments.work.poll("env_local") },
  },
  "beta.environments.work.stats": async (client, stage) =>
    client.beta.environments.work.stats((await queued(client, stage)).at.environment_id),
  "beta.environments.work.stop": async (client, stage) => {
    const { id, at } = await queued(client, stage);
    return client.beta.environments.work.stop(id, { ...at, force: true });
  },
  "beta.environments.work.poller": async (client, stage) => {
    const { at } = await queued(client, stage);
    const seen = [];
    const poller = client.beta.environments.work.poller({ ...keyOf(at.environment_id, stage), drain: true });
    for await (const found of poller) seen.push(found);
    return seen;
  },
  "beta.environments.work.worker": async (client, stage) => {
    const { at } = await queued(client, stage);
    const { client: once, signal } = untilSecondPoll(client);
    const options = { ...keyOf(at.environment_id, stage), workdir: stage.folder, maxIdleMs: 100, signal };
    await once.beta.environments.work.worker(options).run();
  },
};
