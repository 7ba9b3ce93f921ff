import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { connectedTo } from "@tandem/storage/testing";
import { addressOf, MACHINES, VOLUME_WORKERS, WORKERS } from "../lab-machines.ts";
import {
  type CheckContext,
  clientAt,
  expectThat,
  type LabCheck,
  MODEL,
  newSession,
  say,
  startAgain,
  turnOff,
  until,
  untilIdle,
} from "./lab-check.ts";

/** Tandem takes all types here, where the hosted service takes those of user profiles. */
const EVENT = "session.status_idled";
const MINUTE_MS = 60_000;
const SKEW_MS = 40_000;
/** A late start. A scheduler whose clock is off would be 40 s early or late. */
const LATE_MS = 20_000;
/** A claim lasts 30 s. */
const CLAIM_MS = 45_000;
/** Long enough for another process to take the delivery, if it thinks that the first one is dead. */
const ANSWER_MS = 4_000;

/** Work of the whole fleet that one process does, also with clocks that differ by more than a minute. */
export const doneOnce: readonly LabCheck[] = [
  {
    name: "webhooks are delivered once while clocks are 40 s off",
    run: (context) => withSkew(context, () => deliverOnce(context)),
  },
  {
    name: "a webhook whose sender dies is delivered again, with the same id",
    run: deliverAgain,
  },
  {
    name: "a scheduled run starts once, at its minute, while clocks are 40 s off",
    run: (context) => withSkew(context, () => runOnce(context)),
  },
  {
    name: "a scheduled run starts once although the worker that claimed it dies before its session is there",
    run: claimAgain,
  },
];

/** The first machine is ahead, the next one behind, and so on. */
async function withSkew({ stage }: CheckContext, work: () => Promise<void>): Promise<void> {
  const machines = [...stage.lab.clocks.values()];
  try {
    for (const [index, clock] of machines.entries()) {
      expectThat(await clock.moveTo(index % 2 === 0 ? SKEW_MS : -SKEW_MS), "A machine does not use the shifted clock.");
    }
    await work();
  } finally {
    for (const clock of machines) await clock.moveTo(0);
  }
}

interface Delivery {
  id: string;
  machine: string;
}

/** Receives webhooks. `answer` decides how long a delivery waits for its answer. */
async function receive(answer: (count: number) => Promise<unknown>): Promise<Deliveries> {
  const received: Delivery[] = [];
  const receiver = createServer((incoming, response) => {
    const take = async (): Promise<void> => {
      const { id } = (await json(incoming)) as { id: string };
      const machine = MACHINES.find((one) => addressOf(one) === incoming.socket.remoteAddress) ?? "nowhere";
      received.push({ id, machine });
      await answer(received.length);
      response.end();
    };
    take().catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  return {
    received,
    url: `http://${addressOf("client")}:${(receiver.address() as AddressInfo).port}/`,
    [Symbol.dispose]: () => {
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

interface Deliveries extends Disposable {
  received: Delivery[];
  url: string;
}

/** A session with one turn for each of these messages; each turn sends one webhook. */
async function withWebhook(
  context: CheckContext,
  url: string,
  turns: number,
  work: () => Promise<void>,
): Promise<void> {
  const client = clientAt(context, "haproxy");
  const endpoint = await client.beta.organization.webhooks.create({ url, enabled_events: [EVENT as never] });
  try {
    for (let turn = 1; turn <= turns; turn += 1) {
      const session = await newSession(context, client);
      await say(client, session, `Hello ${turn}.`);
      await untilIdle(client, session);
    }
    await work();
  } finally {
    await client.beta.organization.webhooks.delete(endpoint.id);
  }
}

async function deliverOnce(context: CheckContext): Promise<void> {
  using deliveries = await receive(() => sleep(ANSWER_MS));
  const { received } = deliveries;
  const ids = () => new Set(received.map(({ id }) => id));
  await withWebhook(context, deliveries.url, 3, async () => {
    await until("Three deliveries", async () => (ids().size >= 3 ? true : undefined));
    await sleep(2 * ANSWER_MS);
  });
  expectThat(ids().size === received.length, `${received.length} deliveries of ${ids().size}.`);
}

/** The sender dies while it waits for the answer. */
async function deliverAgain(context: CheckContext): Promise<void> {
  using deliveries = await receive((count) =>
    count === 1 ? sleep(10 * MINUTE_MS, undefined, { ref: false }) : sleep(0),
  );
  const { received } = deliveries;
  await withWebhook(context, deliveries.url, 1, async () => {
    const { machine } = await until("The delivery", async () => received[0]);
    await turnOff(context, machine);
    const again = await until("The second delivery", async () => received[1]);
    await startAgain(context, machine);
    await sleep(CLAIM_MS);
    const ids = new Set(received.map(({ id }) => id));
    expectThat(ids.size === 1, `One turn was announced under ${ids.size} ids.`);
    expectThat(
      received.length === 2 && again.machine !== machine,
      `It was sent by ${received.map((one) => one.machine).join()}.`,
    );
  });
}

/** Runs at this minute of each hour, or each minute. */
async function schedule(context: CheckContext, minute: string) {
  const client = clientAt(context, "haproxy");
  const agent = await client.beta.agents.create({ name: "scheduled", model: MODEL });
  const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
  const deployment = await client.beta.deployments.create({
    name: "each minute",
    agent: agent.id,
    environment_id: environment.id,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello." }] }],
    schedule: { type: "cron", expression: `${minute} * * * *`, timezone: "UTC" },
  });
  const sessions = async (): Promise<{ id: string; createdAt: number }[]> => {
    const found: { id: string; createdAt: number }[] = [];
    for await (const session of client.beta.sessions.list({ deployment_id: deployment.id })) {
      found.push({ id: session.id, createdAt: Date.parse(session.created_at) });
    }
    return found;
  };
  return { client, deployment, sessions };
}

async function runOnce(context: CheckContext): Promise<void> {
  const begunAt = Date.now();
  const { client, deployment, sessions } = await schedule(context, "*");
  await until("A run", async () => ((await sessions()).length > 0 ? true : undefined), 2 * MINUTE_MS);
  // By the observer's clock, which is right.
  const seenAt = Date.now();
  await sleep(5_000);
  const found = await sessions();
  const ticks = Math.floor(Date.now() / MINUTE_MS) - Math.floor(begunAt / MINUTE_MS);
  await client.beta.deployments.archive(deployment.id);
  expectThat(found.length === ticks, `${found.length} runs in ${ticks} minutes.`);
  for (const at of [seenAt, ...found.map(({ createdAt }) => createdAt)]) {
    expectThat(at % MINUTE_MS < LATE_MS, `A run started ${at % MINUTE_MS} ms after its minute.`);
  }
}

async function claimAgain(context: CheckContext): Promise<void> {
  const { database } = context.stage.lab;
  // At least 10 s from now.
  const tick = Math.ceil((Date.now() + 10_000) / MINUTE_MS) * MINUTE_MS;
  const { client, sessions } = await schedule(context, String(new Date(tick).getUTCMinutes()));
  await sleep(tick - 2_000 - Date.now());
  const machines = await withLock(database.socketUrl, "tandem.session", async (waiting) => {
    const address = await until("The start of the run", waiting);
    const claimed = WORKERS.filter((one) => addressOf(one) === address);
    // PgBouncer hides the worker: then both that can start the run.
    const off: readonly string[] = claimed.length > 0 ? claimed : VOLUME_WORKERS;
    for (const machine of off) await turnOff(context, machine);
    return off;
  });
  const survivors = VOLUME_WORKERS.filter((one) => !machines.includes(one));
  if (survivors.length === 0) for (const machine of machines) await startAgain(context, machine);
  // Postgres may have finished the dead worker's statement when the lock was released: then its session is the one.
  const [{ id } = { id: "" }] = await until("The run", async () => {
    const found = await sessions();
    return found.length > 0 ? found : undefined;
  });
  await untilIdle(client, id);
  for (const machine of machines) await startAgain(context, machine);
  await sleep(CLAIM_MS);
  expectThat((await sessions()).length === 1, `There are ${(await sessions()).length} runs.`);
}

/** Holds a lock that delays writes to a table, and tells which address waits for it. */
async function withLock<T>(
  url: string,
  table: string,
  work: (waiting: () => Promise<string | undefined>) => Promise<T>,
): Promise<T> {
  return await connectedTo(url, async (query) => {
    await query(`begin; lock table ${table} in share row exclusive mode`);
    const result = await work(async () => {
      const [first] = await query(
        "select host(client_addr) as address from pg_stat_activity where wait_event_type = 'Lock' and client_addr is not null",
      );
      return first === undefined ? undefined : String(first["address"]);
    });
    await query("rollback");
    return result;
  });
}
