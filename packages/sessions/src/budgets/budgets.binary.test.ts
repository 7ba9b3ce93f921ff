import type { BudgetGauge, BudgetUnit, LoggedEvent } from "@tandem/protocol";
import { text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

// Sonnet: $2 per million tokens in, $10 out.
const dear = { usage: { input_tokens: 100_000, output_tokens: 1_000 } };
const DEAR_USD = 0.21;

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.rehearsal.use([]));

const limited = (limits: object) => ({ metadata: { "tandem.limits": JSON.stringify(limits) } });
const stopOf = (events: readonly LoggedEvent[]) => the(events, "session.status_idle").stop_reason.type;
const requests = () => stage.rehearsal.requests.filter(({ path }) => path.startsWith("/v1/messages")).length;
const gauge = (gauges: readonly BudgetGauge[], scope: string, unit: BudgetUnit) =>
  gauges.find((each) => each.scope === scope && each.unit === unit);

describe("a session's own limit", () => {
  test("refuses a message before any model request, and takes it when raised", async () => {
    const session = await engine.reuse(ALLOW_ALL);
    await engine.engine.sessions.update(session.id, limited({ session: { usd: 0.01 } }));
    const before = requests();
    const refused = await engine.turn(session, "Hello.");
    expect(stopOf(refused)).toBe("budget_reached");
    expect(the(refused, "tandem.budget")).toMatchObject({
      gauge: { scope: "session", unit: "usd", spent: 0, limit: 0.01 },
      reason: expect.stringMatching(/^The session used \$0\.00 of \$0\.0100; the next request may take \$0\.0\d+\.$/),
    });
    expect(typesOf(refused)).not.toContain("session.status_running");
    expect(requests()).toBe(before);
    const { waiting } = await engine.engine.sessions.events(session.id, { limit: 100 });
    expect(waiting).toHaveLength(1);

    stage.rehearsal.use([text("Hello.")]);
    const after = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.update(session.id, limited({ session: { usd: 1 } }));
    const taken = await engine.until(session, isIdle, after);
    expect(stopOf(taken)).toBe("end_turn");
    expect(the(taken, "user.message").id).toBe(waiting[0]!.id);
    expect((await engine.engine.sessions.events(session.id, { limit: 100 })).waiting).toEqual([]);
  });

  test("can only lower the configured limit; more must be set for the session", async () => {
    const limits = { turn: { usd: 0.5 }, session: { usd: 0.01 }, agent: {}, project: {}, day: {} };
    const strict = await stage.open({ spending: { limits, project: stage.folder, payer: async () => null } });
    const session = await strict.session(limited({ session: { usd: 100 }, turn: { usd: 100 } }));
    const shown = async (scope: string) => gauge(await strict.engine.budgets.session(session.id), scope, "usd")?.limit;
    expect(await shown("session")).toBe(0.01);
    expect(await shown("turn")).toBe(0.5);
    expect(stopOf(await strict.turn(session, "Hello."))).toBe("budget_reached");
    stage.rehearsal.use([text("Hello.")]);
    const after = await strict.engine.sessions.head(session.id);
    await strict.engine.budgets.set("session", session.id, { usd: 1 }, "ada");
    expect(await shown("session")).toBe(1);
    expect(stopOf(await strict.until(session, isIdle, after))).toBe("end_turn");
    await strict.stop();
  });

  test("stops a turn when the next response does not fit", async () => {
    stage.rehearsal.use([
      toolUse("Bash", { command: "echo one" }, dear),
      toolUse("Bash", { command: "echo two" }, dear),
    ]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.engine.sessions.update(session.id, limited({ turn: { usd: 0.4 } }));
    const spent = async () => gauge(await engine.engine.budgets.session(session.id), "session", "usd")!;
    const before = await spent();
    const events = await engine.turn(session, "Spend.");
    expect(stopOf(events)).toBe("budget_reached");
    expect(the(events, "tandem.budget").gauge).toMatchObject({ scope: "turn", unit: "usd", limit: 0.4 });
    const after = await spent();
    expect(after).toMatchObject({ reserved: 0, limit: null });
    expect(after.spent - before.spent).toBeCloseTo(2 * DEAR_USD, 6);
  });

  test("applies to active time", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "tail -F /dev/null" })]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.engine.sessions.update(session.id, limited({ turn: { seconds: 3 } }));
    const events = await engine.turn(session, "Wait.");
    expect(stopOf(events)).toBe("budget_reached");
    expect(the(events, "tandem.budget").gauge).toMatchObject({ scope: "turn", unit: "seconds", limit: 3 });
  });

  // The message that the limit of turns refuses waits in the session: last.
  test.each([
    ["requests", 2],
    ["tokens", 150_000],
    ["turns", 1],
  ] as const)("holds for %s", async (unit, more) => {
    const call = toolUse("Bash", { command: "echo again" }, dear);
    stage.rehearsal.use(unit === "turns" ? [text("One.")] : [call, call, call]);
    const session = await engine.reuse(ALLOW_ALL);
    const limit = async (value: number): Promise<BudgetGauge> => {
      await engine.engine.sessions.update(session.id, limited({ session: { [unit]: value } }));
      return gauge(await engine.engine.budgets.session(session.id), "session", unit)!;
    };
    const { spent } = await limit(1_000_000_000);
    await limit(spent + more);
    if (unit === "turns") expect(stopOf(await engine.turn(session, "First."))).toBe("end_turn");
    const events = await engine.turn(session, "More.");
    expect(stopOf(events)).toBe("budget_reached");
    const { gauge: shown } = the(events, "tandem.budget");
    expect(shown).toMatchObject({ scope: "session", unit, limit: spent + more });
    expect(shown.spent).toBeLessThanOrEqual(spent + more);
  });
});

describe("subagents", () => {
  const agents = {
    ...ALLOW_ALL,
    multiagent: {
      type: "multiagent_20261001" as const,
      subagents: { type: "enabled" as const, inline_agents: { type: "enabled" as const }, predefined_agents: [] },
    },
  };
  const spawn = (prompt: string) => ({
    type: "tool_use" as const,
    name: "Agent",
    input: { description: prompt, prompt, subagent_type: "general-purpose", run_in_background: false },
  });

  test("share the budget, which two of them exceed by at most one response each", async () => {
    // Each response of each thread costs the same.
    const isSubagent = ({ messages }: ModelRequest) => /Dig (left|right)/.test(JSON.stringify(messages[0]));
    stage.rehearsal.use((request) =>
      isSubagent(request)
        ? toolUse("Bash", { command: "echo digging" }, { ...dear, pace: { firstByteMs: 300 } })
        : { type: "message", content: [spawn("Dig left"), spawn("Dig right")], options: dear },
    );
    const session = await engine.session(limited({ session: { usd: 1.5 } }), agents);
    const events = await engine.turn(session, "Dig.");
    expect(stopOf(events)).toBe("budget_reached");
    expect(typesOf(events).filter((type) => type === "session.thread_created")).toHaveLength(2);
    const spent = gauge(await engine.engine.budgets.session(session.id), "session", "usd")!.spent;
    expect(spent).toBeGreaterThan(0.4);
    expect(spent).toBeLessThanOrEqual(1.5 + 2 * DEAR_USD);
    // Nothing runs afterwards.
    const asked = requests();
    await engine.engine.sessions.update(session.id, { title: "Over" });
    expect(requests()).toBe(asked);
    const answers = events.filter(({ thread, event }) => thread !== null && event.type === "span.model_request_end");
    expect(new Set(answers.map(({ thread }) => thread)).size).toBe(2);
  });
});
