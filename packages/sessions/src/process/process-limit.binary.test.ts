import { join } from "node:path";
import { measureProcesses, ProcessSlots } from "@tandem/claude-code";
import type { LoggedEvent, Session } from "@tandem/protocol";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, inject, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, textsOf, the, typesOf } from "../testing/engine-stage.ts";

const LIMIT = 2;

const slots = new ProcessSlots(LIMIT);
const stage = await setEngineStage();
const engine = await stage.open({ processes: { slots, owner: "project" } });
afterAll(() => stage[Symbol.asyncDispose]());

const isWaiting = ({ event }: LoggedEvent): boolean => event.type === "tandem.process_wait";
const isAsked = ({ event }: LoggedEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";

/** Every reply waits until `release`. */
function heldReplies(words: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  stage.rehearsal.use([always(() => promise.then(() => text(words)))]);
  return resolve;
}

async function runs(words: string): Promise<Session> {
  const session = await engine.session({}, ALLOW_ALL);
  await engine.say(session, words);
  await engine.until(session, ({ event }) => event.type === "span.model_request_start");
  return session;
}

describe("a limit of two processes", () => {
  test("a third turn waits, says so, runs when a process is free, and can be interrupted while it waits", async () => {
    const release = heldReplies("Done.");
    const running = [await runs("One."), await runs("Two.")];
    const [third, fourth] = [await engine.session({}, ALLOW_ALL), await engine.session({}, ALLOW_ALL)];
    await engine.say(third, "Three.");
    await engine.until(third, isWaiting);
    await engine.say(fourth, "Four.");
    const waited = await engine.until(fourth, ({ event }) => event.type === "session.status_rescheduled");
    expect(the(waited, "tandem.process_wait").ahead).toBe(1);
    expect((await engine.engine.sessions.get(fourth.id)).status).toBe("rescheduling");
    expect(await stage.processes()).toHaveLength(LIMIT);
    await engine.engine.sessions.send(fourth.id, [{ type: "user.interrupt" }]);
    expect(textsOf(await engine.until(fourth, isIdle))).toEqual([]);
    release();
    const events = await engine.until(third, isIdle);
    expect(textsOf(events)).toEqual(["Done."]);
    expect(typesOf(events).filter((type) => type.startsWith("session.status_"))).toEqual([
      "session.status_running",
      "session.status_rescheduled",
      "session.status_running",
      "session.status_idle",
    ]);
    for (const session of running) await engine.until(session, isIdle);
    expect(slots.waiting).toBe(0);
  });

  test("an idle process ends for a waiting turn, then one that waits for a person; its approval stays open", async () => {
    const asking = await engine.session();
    stage.rehearsal.use([toolUse("Bash", { command: "echo allowed" }), text("Idle now."), always(text("Next."))]);
    await engine.say(asking, "Ask.");
    const asked = await engine.until(asking, isAsked);
    const idle = await engine.session({}, ALLOW_ALL);
    await engine.turn(idle, "Be idle.");
    // The process of the idle session ends, not that of the open approval.
    const release = heldReplies("Next.");
    const first = await runs("First.");
    expect(await stage.processes()).toHaveLength(LIMIT);
    // Then that of the approval.
    const second = await runs("Second.");
    expect(await stage.processes()).toHaveLength(LIMIT);
    release();
    await engine.until(first, isIdle);
    await engine.until(second, isIdle);
    const [call] = asked.flatMap(({ event }) => (event.type === "agent.tool_use" ? [event.id] : []));
    await engine.engine.sessions.send(asking.id, [
      { type: "user.tool_confirmation", tool_use_id: call!, result: "allow" },
    ]);
    const events = await engine.until(asking, (logged) => isIdle(logged) && !isAsked(logged));
    expect(the(events, "agent.tool_result")).toMatchObject({ content: [{ text: expect.stringContaining("allowed") }] });
  });

  test("a session with many messages gives its process to a waiting one between two turns", async () => {
    const release = heldReplies("Yes.");
    const greedy = await Promise.all([runs("1"), runs("1")]);
    for (const session of greedy) await engine.say(session, "2");
    const patient = await engine.session({}, ALLOW_ALL);
    await engine.say(patient, "And me?");
    await engine.until(patient, isWaiting);
    release();
    await engine.until(patient, isIdle);
    const logs = await Promise.all(greedy.map((session) => engine.until(session, isIdle)));
    for (const events of logs) expect(textsOf(events)).toEqual(["Yes.", "Yes."]);
    expect(logs.flat().some(isWaiting)).toBe(true);
  });
});

test.runIf(inject("soak"))("fifty sessions at once share the processes, and every one is answered", async () => {
  const many = new ProcessSlots(12);
  const loaded = await stage.open({ processes: { slots: many, owner: "project" } });
  stage.rehearsal.use([always(slowly(text("Answered."), { firstByteMs: 1_000 }))]);
  const begun = performance.now();
  const sessions = await Promise.all(Array.from({ length: 50 }, () => loaded.session({}, ALLOW_ALL)));
  let [most, bytes] = [0, 0];
  const measure = async (): Promise<void> => {
    const now = await measureProcesses([join(stage.root, "state", "processes")]);
    [most, bytes] = [Math.max(most, now.count), Math.max(bytes, now.bytes)];
  };
  const measuring = setInterval(() => void measure(), 500);
  const turns = await Promise.all(sessions.map((session) => loaded.turn(session, "Hello?")));
  clearInterval(measuring);
  console.info({ seconds: (performance.now() - begun) / 1_000, most, bytes });
  for (const events of turns) expect(textsOf(events)).toEqual(["Answered."]);
  expect(most).toBeLessThanOrEqual(12 + LIMIT);
});
