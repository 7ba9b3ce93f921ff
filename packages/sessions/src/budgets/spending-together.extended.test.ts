import { once } from "node:events";
import type { BudgetGauge, LoggedEvent, Session } from "@tandem/protocol";
import { slowly, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the, typesOf, type RunningEngine } from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";

// Sonnet: $2 per million tokens in, $10 out.
const dear = { usage: { input_tokens: 100_000, output_tokens: 1_000 } };
const DEAR_USD = 0.21;

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const stopOf = (events: readonly LoggedEvent[]) => the(events, "session.status_idle").stop_reason.type;
const money = async (running: RunningEngine, scope: string): Promise<BudgetGauge | undefined> =>
  (await running.engine.budgets.list()).find((gauge) => gauge.scope === scope && gauge.unit === "usd");

/** Both have a process after the first test. */
let sessions: Session[];

test("two concurrent sessions share a day's budget without reserving any of it twice", async () => {
  await engine.engine.budgets.set("day", undefined, { usd: 1 });
  stage.rehearsal.use(() => toolUse("Bash", { command: "echo again" }, { ...dear, pace: { firstByteMs: 200 } }));
  sessions = await Promise.all([engine.session({}, ALLOW_ALL), engine.session({}, ALLOW_ALL)]);
  const turns = await Promise.all(sessions.map((session) => engine.turn(session, "Spend.")));
  for (const events of turns) {
    expect(stopOf(events)).toBe("budget_reached");
    expect(the(events, "tandem.budget").gauge).toMatchObject({ scope: "day", unit: "usd", limit: 1 });
  }
  const day = (await money(engine, "day"))!;
  const usages = turns.map((events) => the(events, "session.usage").tandem!.usd);
  expect(day.spent).toBeCloseTo(usages[0]! + usages[1]!, 6);
  expect(day.reserved).toBe(0);
  expect(day.spent).toBeGreaterThan(DEAR_USD * 2);
  expect(day.spent).toBeLessThanOrEqual(1 + 2 * DEAR_USD);
  // A third one does not start, and continues by itself when there is budget again.
  const third = await engine.session({}, ALLOW_ALL);
  const refused = await engine.turn(third, "Me too.");
  expect(typesOf(refused)).toEqual(["tandem.budget", "session.status_idle"]);
  stage.rehearsal.use([text("Thanks.")]);
  const head = await engine.engine.sessions.head(third.id);
  await engine.engine.budgets.set("day", undefined, { usd: 5 });
  expect(stopOf(await engine.until(third, isIdle, head))).toBe("end_turn");
});

test("a session's budget through the API: refused in advance, 400 to messages, raised, resumed", async () => {
  const cents = (amount: string) => ({ type: "limit" as const, max_list_cost: { amount, currency: "USD" as const } });
  const session = await engine.session({ budget: cents("3") }, ALLOW_ALL);
  const refused = await engine.turn(session, "Hello.");
  expect(typesOf(refused)).toEqual(["session.status_idle"]);
  expect(stopOf(refused)).toBe("budget_reached");
  await expect(engine.say(session, "More.")).rejects.toThrow(/budget/);
  stage.rehearsal.use([text("Hello.")]);
  const head = await engine.engine.sessions.head(session.id);
  await engine.engine.sessions.update(session.id, { budget: cents("100") });
  const events = await engine.until(session, isIdle, head);
  expect(stopOf(events)).toBe("end_turn");
});

test("everything stops at once, without a process left, until it is resumed; also after a restart", async () => {
  stage.rehearsal.use(() => toolUse("Bash", { command: "tail -F /dev/null" }));
  for (const session of sessions) {
    await engine.markRead(session);
    await engine.say(session, "Wait.");
    await engine.until(session, ({ event }) => event.type === "agent.tool_use");
  }
  expect((await stage.processes()).length).toBeGreaterThanOrEqual(2);
  const halt = await engine.engine.killSwitch.stop("ada", "It is in a loop.");
  expect(halt.interrupted).toBe(2);
  // The count belongs to the stop: the periodic check may apply it before the request that engaged it.
  expect(await engine.engine.killSwitch.heed()).toBe(2);
  expect(await stage.processes()).toEqual([]);
  for (const session of sessions) {
    const events = await engine.until(session, isIdle);
    expect(the(events, "tandem.notice").text).toMatch(/^Everything was stopped by ada at .*: It is in a loop\.$/);
    expect(stopOf(events)).toBe("end_turn");
  }
  await expect(engine.say(sessions[0]!, "More.")).rejects.toThrow(/stopped by ada/);
  await engine.stop();

  const second = await stage.open();
  expect(await second.engine.killSwitch.state()).toMatchObject({ by: "ada" });
  // Messages that were in the input queue before the stop wait, too.
  const session = sessions[0]!;
  await second.store.inputQueue.put(session.id as never, [
    {
      type: "user.message",
      content: [{ type: "text", text: "Later." }],
      id: "sevt_later" as never,
      processed_at: null,
    },
  ]);
  stage.rehearsal.use([text("Now.")]);
  await second.engine.sessions.update(session.id, { title: "Still here" });
  const asked = stage.rehearsal.modelRequests.length;
  expect((await second.engine.sessions.events(session.id, { limit: 500 })).waiting).toHaveLength(1);
  const head = await second.engine.sessions.head(session.id);
  await second.engine.killSwitch.resume();
  const events = await second.until(session, isIdle, head);
  expect(the(events, "agent.message").content[0]!.text).toBe("Now.");
  expect(stage.rehearsal.modelRequests.length).toBe(asked + 1);
});

test("a server killed during a turn leaves no reservation, and its spending is counted once", async () => {
  await using own = await setEngineStage([
    toolUse("Bash", { command: "echo one" }, dear),
    slowly(text("Never heard."), { firstByteMs: 60_000 }),
  ]);
  const { process: server, session } = await own.spawn(ALLOW_ALL, "Spend.");
  const watching = await own.open({ leaseTtl: 1_000 });
  await watching.until(session, ({ event }) => event.type === "agent.tool_result");
  await expect.poll(async () => (await money(watching, "day"))?.reserved).toBeGreaterThan(0);
  server.kill("SIGKILL");
  await once(server, "exit");
  const events = await watching.until(session, isIdle);
  expect(typesOf(events)).toContain("tandem.recovered");
  const day = (await money(watching, "day"))!;
  expect(day.reserved).toBe(0);
  expect(day.spent).toBeCloseTo(DEAR_USD, 6);
  const [gauge] = await watching.engine.budgets.session(session.id);
  expect(gauge).toMatchObject({ scope: "session", unit: "usd", reserved: 0 });
  expect(gauge!.spent).toBeCloseTo(DEAR_USD, 6);
  own.rehearsal.use([text("Again.", dear)]);
  await watching.turn(session, "Once more.");
  expect((await money(watching, "day"))!.spent).toBeCloseTo(2 * DEAR_USD, 6);
  expect(await judgeSession(watching, session)).toEqual([]);
});
