import { join } from "node:path";
import { newId, type LoggedEvent } from "@tandem/protocol";
import { createEmbeddedQueue, type RunQueue } from "@tandem/queue";
import { always, text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EngineSettings } from "../engine-settings.ts";
import { isIdle, setEngineStage, typesOf, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";
import { FleetMember } from "./fleet-member.ts";
import type { FleetSettings } from "./fleet-settings.ts";

let stage: EngineStage;
let queue: RunQueue;
let parts: AsyncDisposableStack;
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  stage = parts.use(await setEngineStage([always(text("Yes."))]));
  queue = parts.use(createEmbeddedQueue({ attempts: 2, pauseSeconds: 1 }));
});
afterEach(() => parts.disposeAsync());

interface Member extends RunningEngine {
  member: FleetMember;
  holder: string;
}

/** An engine with a row, and its hands in the queue: as a process of a fleet is. */
async function join_(
  role: FleetSettings["role"],
  { machine = "here", maxSessions = 10, labels = {} }: Partial<FleetSettings["worker"] & { maxSessions: number }> = {},
  overrides: Partial<EngineSettings> = {},
): Promise<Member> {
  const id = newId("worker");
  const holder = `${role} ${id}`;
  const worker = { id, machine, labels, tenants: null };
  const fleet = { queue, role, tenant: "default", worker, maxSessions };
  const opened = await stage.open({ fleet, holder, recovery: "resume", home: join(stage.root, id), ...overrides });
  const { runs } = opened.engine;
  const member = new FleetMember({
    ...{ store: opened.store, queue, open: () => [runs], runsOf: async () => runs, log: { warn: () => undefined } },
    row: {
      ...{ id, holder, role, machine, labels, maxSessions, tenants: null, roots: [], address: null, payer: null },
      ...{ version: "0", startedAt: new Date().toISOString() },
    },
  });
  await member.start();
  return { ...opened, member, holder };
}

const said = (events: readonly LoggedEvent[]): string[] =>
  events.flatMap(({ event }) => (event.type === "agent.message" ? event.content.map((block) => block.text) : []));

test("what is sent at a server is answered by a worker, and heard at the server", async () => {
  const server = await join_("server");
  const worker = await join_("worker");
  const session = await worker.session();
  const message = await server.say(session, "Are you there?");
  const events = await server.until(session, isIdle);
  expect(said(events)).toEqual(["Yes."]);
  expect((await server.store.leases.holder(session.id as never))?.holder).toBe(worker.holder);
  // Held by now: the worker hears of it without the queue.
  const again = await server.turn(session, "Still?");
  expect(said(again)).toEqual(["Yes."]);
  expect(await judgeSession(server, session, [message])).toEqual([]);
});
