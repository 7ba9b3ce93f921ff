import { RequestError, type LoggedEvent, type Session } from "@tandem/protocol";
import { always, reply, slowly, text, times, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  ALLOW_ALL,
  textsOf,
  isIdle,
  setEngineStage,
  the,
  typesOf,
  type RunningEngine,
} from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const asked = (): string[] => stage.rehearsal.modelRequests.map((request: ModelRequest) => request.lastUserText);
const isType = (type: string) => (logged: LoggedEvent) => logged.event.type === type;
const waits = () => toolUse("Bash", { command: "tail -F waiting.txt" });
const interrupt = (session: Session) => engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
/** A slow answer that begins when `release` is called: on a busy machine, it could otherwise end before the test goes on. */
function heldAnswer() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const answer = slowly(text("A slow answer of some words."), { tokenMs: 80 });
  return { held: times(1, () => promise.then(() => answer)), release };
}
/** A steering message reaches the model with the result of a call: there are calls until it does. */
const untilTold =
  (words: string, answer: Reply) =>
  ({ messages }: ModelRequest): Reply =>
    JSON.stringify(messages).includes(words) ? answer : toolUse("Bash", { command: "sleep 0.3" });
/** Until so many answers were given and the session is idle after them. */
const untilSaid = (session: Session, count: number) => {
  let answers = 0;
  return engine.until(session, (logged) => {
    if (logged.event.type === "agent.message") answers += 1;
    return answers >= count && isIdle(logged);
  });
};

describe("a steering message", () => {
  test("a steering message that arrives too late is answered next, before the session is idle", async () => {
    const { held, release } = heldAnswer();
    stage.rehearsal.use([held, text("Now to you.")]);
    const session = await engine.reuse(ALLOW_ALL);
    const first = await engine.say(session, "One.");
    await engine.until(session, isType("span.model_request_start"));
    const second = await engine.say(session, "Two.", "steer");
    release();
    const events = await engine.until(session, isIdle);
    expect(textsOf(events)).toEqual(["A slow answer of some words.", "Now to you."]);
    expect(await judgeSession(engine, session, [first, second])).toEqual([]);
  });

  test("precedes queued messages, and order is kept", async () => {
    const { held, release } = heldAnswer();
    stage.rehearsal.use([held, text("Two."), text("Three.")]);
    const session = await engine.reuse(ALLOW_ALL);
    const first = await engine.say(session, "One.");
    await engine.until(session, isType("span.model_request_start"));
    const third = await engine.say(session, "I can wait.");
    const second = await engine.say(session, "I cannot.", "steer");
    release();
    const events = await engine.until(session, isIdle);
    expect(asked()).toEqual(["One.", "I cannot.", "I can wait."]);
    expect(typesOf(events).filter((type) => type === "user.message")).toHaveLength(3);
    expect(await judgeSession(engine, session, [first, second, third])).toEqual([]);
  });

  test("does not overtake the message that starts the turn", async () => {
    stage.rehearsal.use([always(text("Yes."))]);
    const session = await engine.session();
    const before = await stage.processes();
    await engine.engine.sessions.send(session.id, [
      { type: "user.message", content: [{ type: "text", text: "First." }] },
      { type: "user.message", content: [{ type: "text", text: "Second." }], tandem: { delivery: "steer" } },
    ]);
    // The process has started and has no prompt yet.
    await expect.poll(async () => (await stage.processes()).length, { interval: 5 }).toBeGreaterThan(before.length);
    await engine.say(session, "Third.", "steer");
    await untilSaid(session, 2);
    const words = JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.messages);
    expect(words.indexOf("First.")).toBeLessThan(words.indexOf("Second."));
    await expect.poll(() => judgeSession(engine, session)).toEqual([]);
  });

  test("is sent to the next process if its process dies first", async () => {
    stage.rehearsal.use([waits(), text("I am new here.")]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "Wait.");
    await engine.until(session, isType("span.model_request_end"));
    const steering = await engine.say(session, "Hurry!", "steer");
    await stage.killProcesses();
    const events = await untilSaid(session, 1);
    expect(textsOf(events)).toEqual(["I am new here."]);
    expect(asked().at(-1)).toContain("Hurry!");
    expect(await judgeSession(engine, session, [steering])).toEqual([]);
  });

  test("is reported once, also when the conversation continues in another process", async () => {
    const quick = await stage.open({ idle: 100 });
    stage.rehearsal.use(untilTold("MARMALADE", text("Understood.")));
    const session = await quick.session({}, ALLOW_ALL);
    await quick.say(session, "Go.");
    await quick.until(session, isType("agent.tool_use"));
    await quick.say(session, "MARMALADE", "steer");
    await quick.until(session, isIdle);
    await expect.poll(() => quick.store.leases.holder(session.id as never)).toBeUndefined();
    await quick.turn(session, "And now?");
    expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body).split("MARMALADE")).toHaveLength(2);
    // The engine also releases a session that was only renamed.
    const renamed = await quick.session();
    await quick.engine.sessions.update(renamed.id, { title: "Mine" });
    await expect.poll(() => quick.store.leases.holder(renamed.id as never)).toBeUndefined();
    await quick.stop();
  });
});

test("a queued message can be removed; one that the agent has cannot", async () => {
  const { held, release } = heldAnswer();
  stage.rehearsal.use([held]);
  const session = await engine.reuse(ALLOW_ALL);
  const first = await engine.say(session, "One.");
  await engine.until(session, isType("span.model_request_start"));
  const second = await engine.say(session, "Two.");
  const { sessions } = engine.engine;
  await sessions.takeBack(session.id, second, "ada");
  await expect(sessions.takeBack(session.id, second)).rejects.toMatchObject({ code: "conflict" });
  await expect(sessions.takeBack(session.id, first)).rejects.toMatchObject({ code: "conflict" });
  await expect(sessions.takeBack(session.id, "sevt_none")).rejects.toMatchObject({ code: "not_found" });
  release();
  const events = await engine.until(session, isIdle);
  expect(the(events, "tandem.dropped")).toMatchObject({ event_id: second, reason: "taken back by ada" });
  expect(asked().join(" ")).not.toContain("Two.");
  expect((await sessions.events(session.id, { limit: 1, order: "desc" })).waiting).toEqual([]);
});

test("a message queued while the process dies is answered by the next one", async () => {
  stage.rehearsal.use([waits(), text("I am new here.")]);
  const session = await engine.reuse(ALLOW_ALL);
  await engine.say(session, "Wait.");
  await engine.until(session, isType("span.model_request_end"));
  const queued = await engine.say(session, "And then?");
  await stage.killProcesses();
  const events = await untilSaid(session, 1);
  expect(textsOf(events)).toEqual(["I am new here."]);
  expect(await judgeSession(engine, session, [queued])).toEqual([]);
});

describe("an interrupt", () => {
  test("stops the turn's background tasks, and nothing follows", async () => {
    stage.rehearsal.use([
      reply([toolUse("Bash", { command: "sleep 1; echo over; sleep 600", run_in_background: true })]),
      waits(),
      always(text("Nobody asked me.")),
    ]);
    const session = await engine.session({}, ALLOW_ALL);
    await engine.say(session, "Go.");
    await expect.poll(() => engine.engine.sessions.tasks(session.id)).toHaveLength(1);
    await engine.until(session, ({ event }) => JSON.stringify(event).includes("tail -F"));
    await interrupt(session);
    const events = await engine.until(session, isIdle);
    expect(await engine.engine.sessions.tasks(session.id)).toEqual([]);
    expect(events.findLast(isType("tandem.background"))?.event).toMatchObject({ tasks: [{ status: "stopped" }] });
    expect(await judgeSession(engine, session)).toEqual([]);
    await engine.engine.sessions.archive(session.id);
  });

  test("may name any message of the turn", async () => {
    stage.rehearsal.use(untilTold("Left!", waits()));
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "Go.");
    await engine.until(session, isType("agent.tool_use"));
    const steering = await engine.say(session, "Left!", "steer");
    await engine.until(session, ({ event }) => event.id === steering);
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt", tandem: { turn_event_id: steering } }]);
    await engine.until(session, isIdle);
    expect(await judgeSession(engine, session)).toEqual([]);
  });

  test("racing with an answer ends the turn with one result for the call", async () => {
    stage.rehearsal.use([toolUse("mcp__tandem__weather", { city: "Bern" }), text("Never said.")]);
    const weather = { name: "weather", description: "w", input_schema: { type: "object" as const } };
    const session = await engine.session({}, { tools: [{ type: "custom", ...weather }] });
    await engine.say(session, "Weather?");
    const use = the(await engine.until(session, isIdle), "agent.custom_tool_use");
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.interrupt" },
      { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text: "rain" }] },
    ]);
    const events = await engine.until(session, isIdle, head);
    expect(events.filter(isType("user.custom_tool_result"))).toHaveLength(1);
    expect(await judgeSession(engine, session)).toEqual([]);
  });
});

describe("a session", () => {
  test("continues after a message whose file is missing", async () => {
    stage.rehearsal.use([waits(), text("Here I am.")]);
    const { id: file } = await engine.engine.files.upload({
      filename: "a.txt",
      mimeType: "text/plain",
      content: new TextEncoder().encode("hello"),
    });
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "Wait.");
    await engine.until(session, isType("span.model_request_end"));
    const content = [{ type: "document" as const, source: { type: "file" as const, file_id: file } }];
    const [sent] = await engine.engine.sessions.send(session.id, [{ type: "user.message", content }]);
    await engine.engine.files.delete(file);
    await stage.killProcesses();
    const { seq } = (await engine.until(session, ({ event }) => event.id === sent!.id)).at(-1)!;
    expect(the(await engine.until(session, isIdle, seq), "session.error").error.message).toContain(file);
    expect(textsOf(await engine.turn(session, "Are you there?"))).toEqual(["Here I am."]);
  });

  test("a session that is archived logs it last and starts no queued message", async () => {
    stage.rehearsal.use([always(slowly(text("Slow."), { firstByteMs: 20_000 }))]);
    const session = await engine.reuse(ALLOW_ALL);
    const first = await engine.say(session, "One.");
    await engine.until(session, isType("span.model_request_start"));
    const second = await engine.say(session, "Two.");
    await engine.engine.sessions.archive(session.id);
    const { events } = await engine.engine.sessions.events(session.id, { limit: 1_000 });
    expect(typesOf(events).slice(-3)).toEqual(["user.message", "tandem.dropped", "session.status_terminated"]);
    expect(await judgeSession(engine, session, [first, second])).toEqual([]);
  });

  test("a session that is about to release its process still takes a message and an update", async () => {
    // Alone on its store: another engine there could lease a session that has no holder for a moment.
    await using own = await setEngineStage([always(text("Yes."))]);
    const quick = await own.open({ idle: 150, leaseTtl: 60_000 });
    const session = await quick.session();
    for (const round of inject("soak") ? [0, 1, 2, 3, 4, 5] : [1]) {
      await quick.turn(session, `Round ${round}.`);
      await new Promise((resolve) => setTimeout(resolve, 145 + 5 * round));
      const changed = quick.engine.sessions.update(session.id, { title: `Round ${round}` });
      const started = Date.now();
      await quick.turn(session, "Are you there?");
      // It does not wait for the end of a lease.
      expect(Date.now() - started).toBeLessThan(40_000 * inject("slowness"));
      await changed;
    }
    expect(await judgeSession(quick, session)).toEqual([]);
    await quick.stop();
  });
});

describe("a database that is slow or away", () => {
  let other: RunningEngine;
  /** Processes of the other engine. */
  let before: readonly number[];
  beforeAll(async () => {
    before = await stage.processes();
    other = await stage.open({ leaseTtl: 5_000 });
  });

  test("a message that steers is reported once, also while the store is slow to take it out of the input queue", async () => {
    const append = other.store.events.append.bind(other.store.events);
    other.store.events.append = async (...what) => {
      if (what[2]?.taken?.length) await new Promise((resolve) => setTimeout(resolve, 700));
      return append(...what);
    };
    const { held, release } = heldAnswer();
    stage.rehearsal.use([held, slowly(text("Now to you."), { firstByteMs: 1_500 }), text("And to you.")]);
    const session = await other.reuse(ALLOW_ALL);
    await other.say(session, "One.");
    await other.until(session, isType("span.model_request_start"));
    await other.say(session, "Two.", "steer");
    release();
    expect(textsOf(await other.until(session, isIdle))).toEqual(["A slow answer of some words.", "Now to you."]);
    expect(textsOf(await other.turn(session, "Three."))).toEqual(["And to you."]);
    expect(await judgeSession(other, session)).toEqual([]);
    other.store.events.append = append;
  });

  test("a session takes what could not be looked for, once the database answers again", async () => {
    stage.rehearsal.use([always(text("Yes."))]);
    const session = await other.reuse(ALLOW_ALL);
    await other.turn(session, "Hello?");
    const list = other.store.inputQueue.list.bind(other.store.inputQueue);
    const refused: unknown[] = [];
    let isAway = true;
    other.store.inputQueue.list = (id) => (isAway ? Promise.reject(new Error(`away ${refused.push(id)}`)) : list(id));
    const head = await other.engine.sessions.head(session.id);
    await other.say(session, "And now?");
    await expect.poll(() => refused.length).toBeGreaterThan(1);
    isAway = false;
    expect(textsOf(await other.until(session, isIdle, head))).toEqual(["Yes."]);
    other.store.inputQueue.list = list;
  });

  test("an engine stops in time, and with its processes", async () => {
    stage.rehearsal.use([waits()]);
    const session = await other.reuse(ALLOW_ALL);
    const head = await other.engine.sessions.head(session.id);
    await other.say(session, "Wait.");
    await other.until(session, isType("span.model_request_end"), head);
    other.store.events.append = () => Promise.reject(new RequestError("unavailable", "away"));
    const own = (await stage.processes()).filter((pid) => !before.includes(pid));
    expect(own).toHaveLength(1);
    await other.stop();
    expect(await stage.processes()).not.toContain(own[0]);
  });
});

test("a process that dies before its prompt ends the turn with an error, and the next message is answered", async () => {
  stage.rehearsal.use([always(text("Yes."))]);
  const session = await engine.session();
  const before = await stage.processes();
  const startedSince = async () => (await stage.processes()).filter((pid) => !before.includes(pid));
  const read = engine.store.events.read.bind(engine.store.events);
  let kills = true;
  engine.store.events.read = async (id, range) => {
    // The message is read when the process is there, and before it has the prompt.
    if (kills && range.types?.[0] === "user.message") {
      for (const pid of await startedSince()) process.kill(-pid, "SIGKILL");
      await expect.poll(startedSince).toEqual([]);
    }
    return read(id, range);
  };
  await engine.say(session, "Hello?");
  expect(typesOf(await engine.until(session, isIdle))).toContain("session.error");
  kills = false;
  expect(textsOf(await engine.turn(session, "And now?"))).toEqual(["Yes."]);
  engine.store.events.read = read;
  expect(await judgeSession(engine, session)).toEqual([]);
});
