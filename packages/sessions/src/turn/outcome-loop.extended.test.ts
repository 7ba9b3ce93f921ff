import { always, serverError, stallBeforeFirstByte, text, toolUse, when } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, textsOf, the, typesOf } from "../testing/engine-stage.ts";
import {
  bodyOf,
  define,
  haiku,
  isGrader,
  isGraderRequest,
  spansOf,
  verdict,
  verdictsOf,
} from "../outcomes/testing/graded-session.ts";

const stage = await setEngineStage();
let engine = await stage.open({ leaseTtl: 1_000 });
afterAll(() => stage[Symbol.asyncDispose]());

const isStart = ({ event }: { event: { type: string } }): boolean => event.type === "span.outcome_evaluation_start";
const outcomesOf = async (session: { id: string }) =>
  (await engine.engine.sessions.get(session.id)).outcome_evaluations.map(({ result }) => result);

/** Ends every Claude Code of the stage as a crash would. */
async function crash(): Promise<void> {
  await engine.vanish();
  await stage.killProcesses();
  engine = await stage.open({ leaseTtl: 1_000 });
}

test("the last evaluation ends the outcome, with one turn to acknowledge it", async () => {
  stage.rehearsal.use([text("Done."), verdict("needs_revision", "Nothing is there."), text("It is missing.")]);
  const session = await engine.reuse(ALLOW_ALL);
  await define(engine, session, { max_iterations: 1 });
  const events = await engine.until(session, isIdle);
  expect(verdictsOf(events)).toMatchObject([{ result: "max_iterations_reached" }]);
  expect(textsOf(events)).toEqual(["Done.", "It is missing."]);
  expect(bodyOf(stage.rehearsal.modelRequests.at(-1))).toContain("Do not work on it further");
});

test("a message that arrives during an evaluation is answered before the next one", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  stage.rehearsal.use([
    text("First."),
    when(isGrader, async (request) => {
      await promise;
      const { answer } = verdict("needs_revision", "More.");
      return typeof answer === "function" ? answer(request) : answer;
    }),
    text("Second."),
    text("Third."),
    verdict("satisfied", "Good."),
  ]);
  const session = await engine.reuse(ALLOW_ALL);
  await define(engine, session);
  await engine.until(session, isStart);
  await engine.say(session, "Also mention the wind.");
  resolve();
  const events = await engine.until(session, isIdle);
  expect(textsOf(events)).toEqual(["First.", "Second.", "Third."]);
  expect(verdictsOf(events).at(-1)).toMatchObject({ result: "satisfied", iteration: 1 });
});

test("an interrupt before the first evaluation ends the outcome", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "tail -F waiting.txt" })]);
  const session = await engine.reuse(ALLOW_ALL);
  await define(engine, session);
  await engine.until(session, ({ event }) => event.type === "span.model_request_end");
  await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
  const events = await engine.until(session, isIdle);
  expect(spansOf(events)).toMatchObject([{ result: "interrupted", outcome_evaluation_start_id: "", iteration: 0 }]);
});

describe("a grader that gives no verdict", () => {
  test("is asked once more; then the outcome has failed", async () => {
    stage.rehearsal.use([text("Done."), always(when(isGrader, text("I think it is fine.")))]);
    const session = await engine.reuse(ALLOW_ALL);
    await define(engine, session);
    const [end] = verdictsOf(await engine.until(session, isIdle));
    expect(end).toMatchObject({ result: "failed", explanation: expect.stringContaining("The grader failed 2 times") });
  });

  test("because its model cannot be asked leaves the outcome active, until an interrupt or the next turn", async () => {
    stage.rehearsal.use([text("Done."), always(when(isGrader, serverError()))]);
    const session = await engine.session({}, ALLOW_ALL);
    await define(engine, session);
    const events = await engine.until(session, isIdle);
    expect(the(events, "session.error").error.message).toContain("could not be evaluated");
    expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "retries_exhausted" });
    expect(await outcomesOf(session)).toEqual(["running"]);
    stage.rehearsal.use([text("Still done."), verdict("satisfied", "Good.")]);
    expect(verdictsOf(await engine.turn(session, "Go on."))).toMatchObject([{ result: "satisfied", iteration: 0 }]);
    await engine.markRead(session);
    stage.rehearsal.use([text("Done."), always(when(isGrader, serverError()))]);
    await define(engine, session);
    await engine.until(session, isIdle);
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await engine.until(session, ({ event }) => event.type === "span.outcome_evaluation_end");
    expect(await outcomesOf(session)).toEqual(["satisfied", "interrupted"]);
  });
});

test("a query on a connection grades", async () => {
  let asked = 0;
  const other = await stage.open({
    graderQueries: {
      names: () => ["shop"],
      run: async () => {
        asked += 1;
        return { columns: ["name", "count"], rows: asked > 1 ? [] : [["eggs", 1]], truncated: false };
      },
    },
  });
  stage.rehearsal.use([text("Done."), text("Repaired.")]);
  const session = await other.session({}, ALLOW_ALL);
  const grader = { type: "sql" as const, connection: "shop", query: "select name, count from orphans" };
  await define(other, session, { tandem: { grader } });
  expect(verdictsOf(await other.until(session, isIdle))).toMatchObject([
    { result: "needs_revision", explanation: expect.stringContaining("eggs | 1") },
    { result: "satisfied" },
  ]);
  await other.stop();
});

describe("a crash", () => {
  test("during an evaluation repeats it, as the same iteration", async () => {
    stage.rehearsal.use([
      text("Done."),
      text("Hello."),
      when(isGrader, toolUse("Glob", { pattern: "*" })),
      // The killed grader may not have come to its second request.
      always(when((request) => isGrader(request) && request.toolResults.length > 0, stallBeforeFirstByte())),
      verdict("satisfied", "Good."),
    ]);
    // This process only watches: the session must be the other server's.
    await engine.stop();
    const watcher = await stage.open({ ownOnly: true });
    const { process: server, session } = await stage.spawn(ALLOW_ALL, "Hello?", {
      session: { initial_events: [haiku()] },
    });
    await watcher.until(session, isGraderRequest);
    server.kill("SIGKILL");
    await watcher.stop();
    // Another server takes the session over.
    engine = await stage.open({ leaseTtl: 1_000 });
    const events = await engine.until(session, isIdle);
    const spans = spansOf(events);
    expect(spans).toMatchObject([
      { iteration: 0 },
      { iteration: 0 },
      { outcome_evaluation_start_id: spans[1]!.id, iteration: 0, result: "satisfied" },
    ]);
    expect(textsOf(events)).toEqual(["Done.", "Hello."]);
    // The cost of the grader that died is not lost.
    const usage = events.findLast(({ event }) => event.type === "session.usage")?.event;
    const requests = events.filter((each) => isGraderRequest(each) || each.event.type === "span.model_request_end");
    expect(usage).toMatchObject({ tandem: { requests: requests.length } });
  });

  test("after a verdict neither loses it nor grades again: the agent gets the explanation", async () => {
    stage.rehearsal.use([
      text("Done."),
      verdict("needs_revision", "The wind is missing."),
      always(stallBeforeFirstByte()),
    ]);
    const session = await engine.session({}, ALLOW_ALL);
    await define(engine, session);
    await engine.until(session, ({ event }) => event.type === "span.outcome_evaluation_end");
    await engine.vanish();
    await stage.killProcesses();
    stage.rehearsal.use([text("With wind."), verdict("satisfied", "Good.")]);
    engine = await stage.open({ leaseTtl: 1_000, recovery: "resume" });
    const events = await engine.until(session, isIdle);
    expect(verdictsOf(events)).toMatchObject([
      { iteration: 0, result: "needs_revision" },
      { iteration: 1, result: "satisfied" },
    ]);
    expect(textsOf(events)).toEqual(["Done.", "With wind."]);
    const told = stage.rehearsal.modelRequests.findLast((request) => !isGrader(request));
    expect(bodyOf(told)).toContain("The wind is missing.");
  });

  test("of the work keeps the outcome, which the next turn is graded for", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "tail -F waiting.txt" })]);
    const session = await engine.session({}, ALLOW_ALL);
    await define(engine, session);
    await engine.until(session, ({ event }) => event.type === "span.model_request_end");
    await crash();
    const events = await engine.until(session, isIdle);
    expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "retries_exhausted" });
    expect(await outcomesOf(session)).toEqual(["running"]);
    stage.rehearsal.use([text("Done."), verdict("satisfied", "Good.")]);
    await engine.turn(session, "Go on.");
    expect(await outcomesOf(session)).toEqual(["satisfied"]);
  });
});

test("a server that stops during an evaluation leaves it to the next one", async () => {
  stage.rehearsal.use([text("Done."), always(when(isGrader, stallBeforeFirstByte()))]);
  const session = await engine.session({}, ALLOW_ALL);
  await define(engine, session);
  await engine.until(session, isStart);
  await engine.stop();
  stage.rehearsal.use([verdict("satisfied", "Good.")]);
  engine = await stage.open({ leaseTtl: 1_000 });
  const events = await engine.until(session, isIdle);
  expect(verdictsOf(events)).toMatchObject([{ iteration: 0, result: "satisfied" }]);
  expect(typesOf(events).filter((type) => type === "session.status_idle")).toHaveLength(1);
});

test("everything that ends the session's work ends the outcome", async () => {
  stage.rehearsal.use([text("Done."), always(when(isGrader, stallBeforeFirstByte()))]);
  const archived = await engine.session({}, ALLOW_ALL);
  await define(engine, archived);
  await engine.until(archived, isStart);
  await engine.engine.sessions.archive(archived.id);
  expect(await outcomesOf(archived)).toEqual(["interrupted"]);

  stage.rehearsal.use([text("Done."), always(when(isGrader, stallBeforeFirstByte()))]);
  const stopped = await engine.session({}, ALLOW_ALL);
  await define(engine, stopped);
  await engine.until(stopped, isStart);
  await engine.engine.killSwitch.stop("test", "fire");
  const events = await engine.until(stopped, isIdle);
  expect(verdictsOf(events)).toMatchObject([{ result: "interrupted", explanation: expect.stringContaining("fire") }]);
  await engine.engine.killSwitch.resume("test");

  stage.rehearsal.use([text("Done."), always(when(isGrader, stallBeforeFirstByte()))]);
  const deleted = await engine.session({}, ALLOW_ALL);
  await define(engine, deleted);
  await engine.until(deleted, isStart);
  await engine.engine.sessions.delete(deleted.id);
  await expect(engine.engine.sessions.get(deleted.id)).rejects.toMatchObject({ code: "not_found" });
  await expect.poll(async () => (await stage.processes()).length).toBeLessThanOrEqual(2);
});

describe("a limit", () => {
  const limits = (requests: number) => ({ metadata: { "tandem.limits": JSON.stringify({ session: { requests } }) } });

  test.each([
    ["before", 1],
    ["during", 2],
  ])("that is reached %s an evaluation leaves the outcome to the next turn", async (_, requests) => {
    stage.rehearsal.use([text("Done."), when(isGrader, toolUse("Glob", { pattern: "*" }))]);
    const session = await engine.session(limits(requests), ALLOW_ALL);
    await define(engine, session);
    const events = await engine.until(session, isIdle);
    expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "budget_reached" });
    expect(verdictsOf(events)).toEqual([]);
    expect(await outcomesOf(session)).toEqual(["running"]);
    stage.rehearsal.use([text("Still done."), verdict("satisfied", "Good.")]);
    await engine.engine.sessions.update(session.id, limits(100));
    expect(verdictsOf(await engine.turn(session, "Go on."))).toMatchObject([{ iteration: 0, result: "satisfied" }]);
  });
});

test("a fork has no active outcome, and a rewind to before an outcome ends it", async () => {
  stage.rehearsal.use([
    text("Done."),
    verdict("satisfied", "Good."),
    text("Done."),
    always(when(isGrader, serverError())),
  ]);
  const session = await engine.session({}, ALLOW_ALL);
  await define(engine, session);
  await engine.until(session, isIdle);
  await engine.markRead(session);
  const second = await define(engine, session);
  await engine.until(session, isIdle);
  const fork = await engine.engine.history.fork(session.id, {}, "test");
  expect(await outcomesOf(session)).toEqual(["satisfied", "running"]);
  expect(await outcomesOf(fork)).toEqual(["satisfied"]);
  await engine.engine.history.rewind(session.id, { to_message_id: second.id, scope: "conversation" }, "test");
  expect(await outcomesOf(session)).toEqual(["satisfied", "interrupted"]);
});
