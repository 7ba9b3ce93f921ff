import { listenOnLoopback } from "@tandem/rehearsal";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type Anthropic from "@anthropic-ai/sdk";
import { expect, inject, test } from "vitest";
import { sessionMachine } from "../testing/session-machine.ts";
import { busyModel, FaultRun, QUICK_TAKEOVER } from "./fault-run.ts";

const KILLS = inject("soak") ? 30 : 5;
const AT_ONCE = 8;
const DEADLINE_MS = 120_000;

interface Received {
  key: string;
  type: string;
  id: string;
  body: string;
  headers: Record<string, string>;
}

// Kills at random times between a change, its commit and its delivery.
test(`a server killed ${KILLS} times loses no webhook and invents none`, async () => {
  await using machine = await sessionMachine(busyModel, QUICK_TAKEOVER);
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { data } = JSON.parse(body) as { data: { type: string; id: string } };
      const headers = request.headers as Record<string, string>;
      received.push({ ...data, key: headers["webhook-id"]!, body, headers });
      // Some acknowledgements come when the server is dead already.
      setTimeout(() => response.writeHead(204).end(), Math.random() * 50);
    });
  });
  await using receiver = await listenOnLoopback(server);
  const run = new FaultRun(machine);
  await run.up();
  const { signing_secret: key } = await run.client.beta.organization.webhooks.create({
    url: `${receiver.url}/`,
    enabled_events: ["agent.created", "session.status_run_started", "session.status_idled"] as never,
  });
  await run.createSessions(1);
  const [session] = run.sessions as [string];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const changes = Array.from({ length: AT_ONCE }, (_, index) =>
      // A request that the kill cut off may have made its agent or not.
      run.client.beta.agents.create({ name: `agent ${kill}.${index}`, model: "sonnet" }).catch(() => undefined),
    );
    await run.poke(session);
    await sleep(Math.random() * 400);
    await run.kill();
    await Promise.all(changes);
    await run.up();
  }
  await run.verify();

  const agents: string[] = [];
  for await (const { id } of run.client.beta.agents.list({ limit: 100 })) agents.push(id);
  const log: string[] = [];
  for await (const { type } of run.client.beta.sessions.events.list(session, { limit: 1_000 })) log.push(type);
  const count = (type: string): number =>
    new Set(received.filter((each) => each.type === type).map((each) => each.key)).size;
  const told = () => new Set(received.filter(({ type }) => type === "agent.created").map(({ id }) => id));
  await expect.poll(() => told(), { timeout: DEADLINE_MS }).toEqual(new Set(agents));
  const logged = (type: string): number => log.filter((each) => each === type).length;
  await expect
    .poll(() => [count("session.status_run_started"), count("session.status_idled")], { timeout: DEADLINE_MS })
    .toEqual([logged("session.status_running"), logged("session.status_idle")]);
  expect(count("agent.created"), "one event for each agent").toBe(agents.length);
  const { webhooks }: Anthropic["beta"] = run.client.beta;
  const fresh = received.filter(({ headers }) => Date.now() / 1_000 - Number(headers["webhook-timestamp"]) < 200);
  for (const { body, headers } of fresh) expect(webhooks.unwrap(body, { headers, key }).type).toBe("event");
  await run.stop();
});
