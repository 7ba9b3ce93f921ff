import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Approval, LoggedEvent, Session } from "@tandem/protocol";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { isIdle, setEngineStage, the, type RunningEngine } from "../testing/engine-stage.ts";
import { MovableClock } from "../host/movable-clock.ts";
import { allow, deny, isOver, pendingOf, untilAsked, waitsFor } from "../testing/until-asked.ts";

const clock = new MovableClock();
const HOUR_MS = 3_600_000;
const WAIT_MS = 4 * 60_000;
const stage = await setEngineStage();
const engine = await stage.open({ clock });
afterAll(() => stage[Symbol.asyncDispose]());

const touch = (name: string, id?: string) => toolUse("Bash", { command: `touch ${name}` }, id ? { id } : {});
const isThere = (name: string): boolean => existsSync(join(stage.folder, name));
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";
const asked = async (running: RunningEngine, session: Session): Promise<Approval> =>
  (await untilAsked(running, session))[0]!;
const restOf = (running: RunningEngine, session: Session): Promise<LoggedEvent[]> => running.until(session, isOver);

describe("an approval", () => {
  test("shows command, folder and reason, and is in the list of all sessions", async () => {
    stage.rehearsal.use([touch("shown.txt"), text("Done.")]);
    const session = await engine.reuse();
    await engine.engine.sessions.update(session.id, { title: "Shown" });
    const approval = await asked(engine, session);
    expect(approval).toMatchObject({
      type: "approval",
      kind: "tool",
      session_id: session.id,
      session_title: "Shown",
      session_thread_id: null,
      agent_name: "tester",
      folder: stage.folder,
      tool: "Bash",
      input: { command: "touch shown.txt" },
      expires_at: null,
      status: "pending",
      resolved: null,
    });
    const { data } = await engine.engine.approvals.list({ status: "pending", limit: 100 });
    expect(data.map(({ id }) => id)).toContain(approval.id);
    expect(await engine.engine.approvals.get(approval.id)).toEqual(approval);
    const active = async () => (await engine.engine.sessions.get(session.id)).stats.active_seconds;
    const activeBefore = await active();
    clock.advance(WAIT_MS);
    const answered = await engine.engine.approvals.answer(approval.id, allow, "Ada");
    expect(answered).toMatchObject({ status: "resolved", resolved: { outcome: "allowed", by: "Ada", scope: "once" } });
    const events = await restOf(engine, session);
    expect((await active()) - activeBefore, "waiting for a person is not active time").toBeLessThan(WAIT_MS / 1_000);
    // It is written a moment before the last status.
    const { active_seconds: reported } = the(events, "session.usage").usage;
    expect(reported).toBeGreaterThanOrEqual(activeBefore);
    expect(reported).toBeLessThanOrEqual(await active());
    expect(the(events, "user.tool_confirmation").tandem).toEqual({ scope: "once", by: "Ada" });
    expect(isThere("shown.txt")).toBe(true);
    const history = await engine.engine.approvals.list({ status: "resolved", limit: 1 });
    expect(history.data[0]).toMatchObject({ id: approval.id, resolved: { by: "Ada" } });
  });

  test("can be read as soon as its event is committed", async () => {
    stage.rehearsal.use([touch("soon.txt"), text("Done.")]);
    const session = await engine.reuse();
    const found: Promise<unknown>[] = [];
    const stop = engine.store.events.onAppend((_, events) => {
      for (const { event } of events) {
        if (event.type === "agent.tool_use") found.push(engine.engine.approvals.get(event.id));
      }
    });
    const approval = await asked(engine, session);
    stop();
    expect(await Promise.all(found)).toMatchObject([{ id: approval.id, status: "pending" }]);
    await engine.engine.approvals.answer(approval.id, allow, "Ada");
    await restOf(engine, session);
  });

  test("shows the change that an edit would make", async () => {
    await writeFile(join(stage.folder, "poem.txt"), "one\ntwo\nthree\n");
    stage.rehearsal.use([
      toolUse("Read", { file_path: join(stage.folder, "poem.txt") }),
      toolUse("Edit", { file_path: join(stage.folder, "poem.txt"), old_string: "two", new_string: "2" }),
      text("Done."),
    ]);
    const session = await engine.reuse();
    let approval = await asked(engine, session);
    if (approval.tool === "Read") {
      const after = await engine.engine.sessions.head(session.id);
      await engine.engine.approvals.answer(approval.id, allow, "Ada");
      await engine.until(session, waitsFor(1), after);
      approval = (await pendingOf(engine, session))[0]!;
    }
    expect(approval.diff).toEqual({
      path: "poem.txt",
      kind: "update",
      hunks: [{ old_start: 1, old_lines: 3, new_start: 1, new_lines: 3, lines: [" one", "-two", "+2", " three"] }],
    });
    await engine.engine.approvals.answer(approval.id, deny, "Ada");
    await restOf(engine, session);
  });

  test("an approval that is denied has no effect, and the model gets the reason", async () => {
    stage.rehearsal.use([touch("denied.txt"), text("I see.")]);
    const session = await engine.reuse();
    const approval = await asked(engine, session);
    await engine.engine.approvals.answer(approval.id, { ...deny, message: "Not on a Sunday." }, "Ada");
    const events = await restOf(engine, session);
    expect(the(events, "tandem.approval_resolved")).toMatchObject({
      event_id: approval.id,
      outcome: "denied",
      by: "Ada",
      message: "Not on a Sunday.",
    });
    expect(lastRequest()).toContain("Not on a Sunday.");
    expect(isThere("denied.txt")).toBe(false);
  });

  test("with an edited input runs with it, and the model is told", async () => {
    stage.rehearsal.use([touch("original.txt"), text("Done.")]);
    const session = await engine.reuse();
    const approval = await asked(engine, session);
    const input = { command: "touch edited.txt" };
    const answered = await engine.engine.approvals.answer(approval.id, { ...allow, input }, "Ada");
    expect(answered.resolved).toMatchObject({ outcome: "allowed", edited: true });
    await restOf(engine, session);
    expect([isThere("original.txt"), isThere("edited.txt")]).toEqual([false, true]);
    expect(lastRequest()).toContain("The user changed the input of this call");
  });

  test("is answered once: later callers learn who answered first", async () => {
    stage.rehearsal.use([touch("raced.txt"), text("Done.")]);
    const session = await engine.reuse();
    const approval = await asked(engine, session);
    const people = ["Ada", "Bob", "Cleo", "Dan"];
    const answers = await Promise.allSettled(
      people.map((by, index) => engine.engine.approvals.answer(approval.id, index % 2 === 0 ? allow : deny, by)),
    );
    const won = answers.flatMap((answer, index) => (answer.status === "fulfilled" ? [people[index]!] : []));
    expect(won).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "conflict" });
      if (answer.status === "rejected") expect(String(answer.reason)).toContain(`by ${won[0]}`);
    }
    const events = await restOf(engine, session);
    expect(events.filter(({ event }) => event.type === "tandem.approval_resolved")).toHaveLength(1);
    // A client whose answer was lost repeats it.
    const again = people.indexOf(won[0]!) % 2 === 0 ? allow : deny;
    expect(await engine.engine.approvals.answer(approval.id, again, won[0]!)).toMatchObject({ status: "resolved" });
    await expect(engine.engine.approvals.answer(approval.id, again, "Eve")).rejects.toThrow(/already/);
  });

  test("is cancelled with its turn and cannot be answered afterwards", async () => {
    stage.rehearsal.use([touch("cancelled.txt")]);
    const session = await engine.reuse();
    const approval = await asked(engine, session);
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    const events = await restOf(engine, session);
    expect(the(events, "tandem.approval_resolved")).toMatchObject({ event_id: approval.id, outcome: "cancelled" });
    await expect(engine.engine.approvals.answer(approval.id, allow, "Ada")).rejects.toThrow(
      /was cancelled: its turn ended first/,
    );
    expect(isThere("cancelled.txt")).toBe(false);
  });

  test("rejects a client's note and invalid answers", async () => {
    stage.rehearsal.use([touch("noted.txt"), text("Done.")]);
    const session = await engine.reuse();
    const { id } = await asked(engine, session);
    const forged = { scope: "always" as const, save_for: "user" as const, by: "the king" };
    await expect(
      engine.engine.sessions.send(session.id, [
        { type: "user.tool_confirmation", tool_use_id: id, result: "allow", tandem: forged },
      ]),
    ).rejects.toThrow(/POST \/v1\/approvals/);
    const answer = (given: object) =>
      engine.engine.approvals.answer(id, { ...allow, ...given }, "Ada").catch((error: Error) => error);
    expect(await answer({ mode: "acceptEdits" })).toMatchObject({ code: "invalid_request" });
    expect(await answer({ result: "deny", input: {} })).toMatchObject({ code: "invalid_request" });
    expect(await answer({ message: "yes, please" })).toMatchObject({ code: "invalid_request" });
    expect(await answer({ result: "deny", scope: "always" })).toMatchObject({ code: "invalid_request" });
    await expect(engine.engine.approvals.get("sevt_none")).rejects.toMatchObject({ code: "not_found" });
    await answer({ result: "deny" });
    await restOf(engine, session);
  });

  test("two requests are answered independently", async () => {
    stage.rehearsal.use([reply([touch("a.txt", "toolu_a"), touch("b.txt", "toolu_b")]), text("Done.")]);
    const session = await engine.reuse();
    const data = await untilAsked(engine, session, { count: 2 });
    expect(data).toHaveLength(2);
    const byCommand = (name: string) => data.find(({ input }) => input["command"] === `touch ${name}`)!;
    await engine.engine.approvals.answer(byCommand("a.txt").id, deny, "Ada");
    await engine.engine.approvals.answer(byCommand("b.txt").id, allow, "Bob");
    await restOf(engine, session);
    expect([isThere("a.txt"), isThere("b.txt")]).toEqual([false, true]);
  });
});

describe("an unanswered approval", () => {
  test("is denied when it expires, and the model is told", async () => {
    stage.rehearsal.use([touch("expired.txt"), text("A pity.")]);
    const session = await engine.reuse();
    await engine.engine.sessions.update(session.id, { metadata: { "tandem.approval_expiry": "1h" } });
    const approval = await asked(engine, session);
    expect(approval.expires_at).not.toBeNull();
    clock.advance(HOUR_MS);
    const events = await restOf(engine, session);
    expect(the(events, "tandem.approval_resolved")).toMatchObject({ outcome: "expired", by: "tandem" });
    expect(lastRequest()).toContain("No one answered until");
    expect(isThere("expired.txt")).toBe(false);
  });

  test("releases its process and keeps waiting for days; the answer starts a new process", async () => {
    const patient = await stage.open({ clock, approvals: { keepProcess: HOUR_MS } });
    stage.rehearsal.use([touch("patient.txt")]);
    const session = await patient.session();
    const approval = await asked(patient, session);
    clock.advance(HOUR_MS);
    await expect.poll(async () => patient.store.leases.holder(session.id as never)).toBeUndefined();
    clock.advance(5 * 24 * HOUR_MS);
    expect(isThere("patient.txt")).toBe(false);
    stage.rehearsal.use([text("Finally.")]);
    const answered = await patient.engine.approvals.answer(approval.id, allow, "Ada");
    expect(answered.resolved).toMatchObject({ outcome: "allowed", late: true });
    const events = await restOf(patient, session);
    expect(events.filter(({ event }) => event.type === "agent.tool_use")).toHaveLength(1);
    expect(isThere("patient.txt")).toBe(true);
    expect(events.filter(isIdle)).toHaveLength(2);

    // It is also denied where the server was away when it was due.
    await patient.engine.sessions.update(session.id, { metadata: { "tandem.approval_expiry": "1h" } });
    stage.rehearsal.use([touch("overdue.txt")]);
    await asked(patient, session);
    const head = await patient.engine.sessions.head(session.id);
    const activeBefore = (await patient.engine.sessions.get(session.id)).stats.active_seconds;
    expect(activeBefore).toBeGreaterThan(0);
    await patient.stop();
    const later = new MovableClock();
    later.advance(6 * 24 * HOUR_MS);
    stage.rehearsal.use([text("A pity.")]);
    const second = await stage.open({ clock: later });
    const rest = await second.until(session, isOver, head);
    expect(the(rest, "tandem.approval_resolved")).toMatchObject({ outcome: "expired" });
    expect(isThere("overdue.txt")).toBe(false);
    const { stats } = await second.engine.sessions.get(session.id);
    expect(stats.active_seconds, "also over a restart").toBeLessThan(HOUR_MS / 1_000);
    expect(stats.active_seconds, "with the time before it").toBeGreaterThan(activeBefore);
    await second.stop();
  });
});
