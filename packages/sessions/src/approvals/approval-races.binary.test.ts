import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedEvent, Session, SessionEvent } from "@tandem/protocol";
import { always, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { allow, deny, isOver, pendingOf, waitsFor } from "../testing/until-asked.ts";
import { setEngineStage } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

/** Deterministic pseudo-random numbers (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const ROUNDS = inject("soak") ? 25 : 6;

async function logOf(session: Session, after: number): Promise<SessionEvent[]> {
  const { events } = await engine.engine.sessions.events(session.id, { after, limit: 1_000 });
  return events.map(({ event }) => event);
}

test("an interrupt of an ended turn never cancels the next one", async () => {
  const random = randomFrom(20_261_115);
  stage.rehearsal.use([always(text("Said."))]);
  const session = await engine.reuse();
  let last = await engine.say(session, "First.");
  await engine.until(session, isOver);
  for (let round = 0; round < ROUNDS; round += 1) {
    const head = await engine.engine.sessions.head(session.id);
    // Bound to the ended turn, or sent while idle: before, with or after the next message.
    const bound = { type: "user.interrupt" as const, tandem: { turn_event_id: last } };
    const moment = random(4);
    const interrupt = () =>
      engine.engine.sessions.send(session.id, [moment === 0 ? { type: "user.interrupt" } : bound]);
    if (moment <= 1) await interrupt();
    const saying = engine.say(session, `Round ${round}.`);
    const interrupting =
      moment === 2 ? interrupt() : moment === 3 ? saying.then(() => sleep(random(60))).then(interrupt) : undefined;
    last = await saying;
    await interrupting;
    await engine.until(session, isOver, head);
    const events = await logOf(session, head);
    expect(
      events.filter(({ type }) => type === "agent.message"),
      `round ${round}, moment ${moment}`,
    ).toHaveLength(1);
    expect(events.filter(({ id }) => id === last)).toHaveLength(1);
  }
});

test("an answer that races with an interrupt either counts or is rejected", async () => {
  const random = randomFrom(4_711);
  const session = await engine.reuse();
  for (let round = 0; round < ROUNDS; round += 1) {
    const file = `raced-${round}.txt`;
    stage.rehearsal.use([toolUse("Bash", { command: `touch ${file}` }), always(text("Done."))]);
    const head = await engine.engine.sessions.head(session.id);
    const message = await engine.say(session, `Round ${round}.`);
    await engine.until(session, waitsFor(1), head);
    const [asked] = await pendingOf(engine, session);
    const isAllowed = random(2) === 0;
    const pause = random(30) - 15;
    const answering = sleep(Math.max(0, pause)).then(() =>
      engine.engine.approvals.answer(asked!.id, isAllowed ? allow : deny, "Ada").catch((error: Error) => error),
    );
    const interrupting = sleep(Math.max(0, -pause)).then(() =>
      engine.engine.sessions.send(session.id, [{ type: "user.interrupt", tandem: { turn_event_id: message } }]),
    );
    const [answered] = await Promise.all([answering, interrupting]);
    await engine.until(session, isOver, head);
    const events = await logOf(session, head);
    const ends = events.flatMap((event) => (event.type === "tandem.approval_resolved" ? [event] : []));
    const about = `round ${round}, ${isAllowed ? "allow" : "deny"}, ${pause} ms: ${JSON.stringify(answered)}`;
    expect(ends, about).toHaveLength(1);
    expect(ends[0]!.outcome, about).toMatch(isAllowed ? /allowed|cancelled/ : /denied|cancelled/);
    const wasTaken = ends[0]!.outcome !== "cancelled";
    // The caller learns whether the answer counted; if it was queued, the log says so too.
    expect(answered instanceof Error, about).toBe(!wasTaken);
    const sent = events.find((event) => event.type === "user.tool_confirmation");
    const dropped = events.filter((event) => event.type === "tandem.dropped" && event.event_id === sent?.id);
    expect(dropped, about).toHaveLength(sent && !wasTaken ? 1 : 0);
    if (!wasTaken || !isAllowed) expect(existsSync(join(stage.folder, file)), about).toBe(false);
  }
});

test("the log after the races is consistent", async () => {
  const { data } = await engine.engine.sessions.list({ limit: 10 });
  for (const { id } of data) {
    const { events } = await engine.engine.sessions.events(id, { limit: 10_000 });
    const seqs = events.map(({ seq }: LoggedEvent) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  }
});

test("of two different answers at the same time, one is refused and not in the log", async () => {
  const session = await engine.reuse();
  for (let round = 0; round < ROUNDS; round += 1) {
    const file = `twice-${round}.txt`;
    stage.rehearsal.use([toolUse("Bash", { command: `touch ${file}` }), always(text("Done."))]);
    const head = await engine.engine.sessions.head(session.id);
    await engine.say(session, `Round ${round}.`);
    await engine.until(session, waitsFor(1), head);
    const [asked] = await pendingOf(engine, session);
    const confirm = (result: "allow" | "deny") =>
      engine.engine.sessions.send(session.id, [{ type: "user.tool_confirmation", tool_use_id: asked!.id, result }]);
    const outcomes = await Promise.allSettled([confirm("allow"), confirm("deny")]);
    await engine.until(session, isOver, head);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const events = await logOf(session, head);
    expect(events.filter(({ type }) => type === "user.tool_confirmation")).toHaveLength(1);
    expect(existsSync(join(stage.folder, file))).toBe(outcomes[0].status === "fulfilled");
  }
});
