import type { Session, SessionId } from "@tandem/protocol";
import { always, text } from "@tandem/rehearsal";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { setEngineStage, textsOf, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

let stage: EngineStage;
let running: RunningEngine;
let agent: string;
beforeAll(async () => {
  stage = await setEngineStage();
  running = await stage.open({ spareProcesses: { count: 1, keepMs: 3_600_000 } });
  ({ id: agent } = await running.engine.agents.create({ name: "tester", model: "sonnet", tools: [] }));
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.rehearsal.use([always(text("fine"))]));

/** A session that has run a turn and has no process any more. */
async function released(): Promise<{ session: Session; id: SessionId }> {
  const session = await running.engine.sessions.create({ agent, environment_id: "env_local" });
  await running.turn(session, "remember-violet");
  const id = session.id as SessionId;
  await release(id);
  return { session, id };
}

async function release(id: SessionId): Promise<void> {
  while (await running.store.leases.holder(id)) await running.engine.runs.makeRoom();
}

const isHeld = async (id: SessionId): Promise<boolean> => (await running.store.leases.holder(id)) !== undefined;

test("a message to a session that was opened before gets the process that was started then", async () => {
  const { session, id } = await released();
  // The other one waits for a new session.
  await expect.poll(() => stage.processes()).toHaveLength(1);
  const [spare] = await stage.processes();
  await running.engine.sessions.opened(id);
  await expect.poll(() => stage.processes()).toHaveLength(2);
  const reopened = (await stage.processes()).find((pid) => pid !== spare);
  const head = await running.engine.sessions.head(id);
  expect(textsOf((await running.turn(session, "Go on.")).filter(({ seq }) => seq > head))).toEqual(["fine"]);
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body)).toContain("remember-violet");
  await running.engine.sessions.archive(id);
  expect(await stage.processes()).not.toContain(reopened);
});

test("a message right after the opening waits for the same process", async () => {
  const { session, id } = await released();
  const head = await running.engine.sessions.head(id);
  await running.engine.sessions.opened(id);
  const turn = (await running.turn(session, "At once.")).filter(({ seq }) => seq > head);
  expect(textsOf(turn)).toEqual(["fine"]);
  expect(turn.filter(({ event }) => event.type === "tandem.init")).toHaveLength(1);
  await running.engine.sessions.archive(id);
});

test("a session that got no message after its opening is not reopened again until it has had a turn", async () => {
  const { session, id } = await released();
  await running.engine.sessions.opened(id);
  expect(await isHeld(id)).toBe(true);
  await release(id);
  await running.engine.sessions.opened(id);
  expect(await isHeld(id)).toBe(false);
  await running.turn(session, "Again.");
  await release(id);
  await running.engine.sessions.opened(id);
  expect(await isHeld(id)).toBe(true);
  await running.engine.sessions.archive(id);
});

test("as many sessions as configured are reopened at once: the oldest makes room", async () => {
  const [first, second] = [await released(), await released()];
  await running.engine.sessions.opened(first.id);
  await running.engine.sessions.opened(second.id);
  expect([await isHeld(first.id), await isHeld(second.id)]).toEqual([false, true]);
  for (const { id } of [first, second]) await running.engine.sessions.archive(id);
});

test("neither the kill switch nor an archived session lets a process start", async () => {
  const { id } = await released();
  await running.engine.killSwitch.stop("test", "test");
  await running.engine.sessions.opened(id);
  expect(await isHeld(id)).toBe(false);
  await running.engine.killSwitch.resume("test");
  await running.engine.sessions.archive(id);
  await running.engine.sessions.opened(id);
  expect(await isHeld(id)).toBe(false);
});
