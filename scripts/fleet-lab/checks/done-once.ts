import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf } from "../lab-machines.ts";
import { type CheckContext, clientAt, expectThat, type LabCheck, MODEL, say, until, untilIdle } from "./lab-check.ts";

/** Tandem takes all types here, where the hosted service takes those of user profiles. */
const EVENT = "session.status_idled";
const MINUTE_MS = 60_000;
/** Long enough for another process to take the delivery, if it thinks that the first one is dead. */
const ANSWER_MS = 4_000;

/** Work of the whole fleet that one process does, also with clocks that differ by a minute. */
export const doneOnce: readonly LabCheck[] = [
  {
    name: "webhooks are delivered once while clocks differ by a minute",
    run: (context) => withSkew(context, () => deliverOnce(context)),
  },
  {
    name: "a scheduled run starts once, at its time, while clocks differ by a minute",
    run: (context) => withSkew(context, () => runOnce(context)),
  },
];

/** Two machines are a minute ahead, two a minute behind. */
async function withSkew({ stage }: CheckContext, work: () => Promise<void>): Promise<void> {
  const machines = [...stage.lab.clocks.values()];
  try {
    for (const [index, clock] of machines.entries()) await clock.moveTo([MINUTE_MS, -MINUTE_MS, 0][index % 3]!);
    await work();
  } finally {
    for (const clock of machines) await clock.moveTo(0);
  }
}

async function deliverOnce(context: CheckContext): Promise<void> {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      received.push(((await json(request)) as { id: string }).id);
      await sleep(ANSWER_MS);
      response.end();
    };
    void receive();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const client = clientAt(context, "haproxy");
  const url = `http://${addressOf("client")}:${(receiver.address() as AddressInfo).port}/`;
  const endpoint = await client.beta.organization.webhooks.create({ url, enabled_events: [EVENT as never] });
  try {
    const agent = await client.beta.agents.create({ name: "hooked", model: MODEL });
    const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
    for (let turn = 1; turn <= 3; turn += 1) {
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      await say(client, session.id, `Hello ${turn}.`);
      await untilIdle(client, session.id);
    }
    await until("Three deliveries", async () => (new Set(received).size >= 3 ? true : undefined));
    await sleep(2 * ANSWER_MS);
  } finally {
    await client.beta.organization.webhooks.delete(endpoint.id);
    receiver.closeAllConnections();
    receiver.close();
  }
  expectThat(new Set(received).size === received.length, `${received.length} deliveries of ${new Set(received).size}.`);
}

async function runOnce(context: CheckContext): Promise<void> {
  const client = clientAt(context, "haproxy");
  const agent = await client.beta.agents.create({ name: "scheduled", model: MODEL });
  const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
  const createdAt = Date.now();
  const deployment = await client.beta.deployments.create({
    name: "each minute",
    agent: agent.id,
    environment_id: environment.id,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello." }] }],
    schedule: { type: "cron", expression: "* * * * *", timezone: "UTC" },
  });
  const startedAt = async (): Promise<number[]> => {
    const times: number[] = [];
    for await (const session of client.beta.sessions.list({ deployment_id: deployment.id })) {
      times.push(Date.parse(session.created_at));
    }
    return times;
  };
  await until("A run", async () => ((await startedAt()).length > 0 ? true : undefined), 2 * MINUTE_MS);
  await sleep(5_000);
  const times = await startedAt();
  const ticks = Math.floor(Date.now() / MINUTE_MS) - Math.floor(createdAt / MINUTE_MS);
  await client.beta.deployments.archive(deployment.id);
  expectThat(times.length === ticks, `${times.length} runs in ${ticks} minutes.`);
}
