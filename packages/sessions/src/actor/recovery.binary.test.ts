import type { LoggedEvent, Session } from "@tandem/protocol";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
/** The engine that runs. A test that crashes it opens the next one, which has the session. */
let engine = await stage.open({ leaseTtl: 1_000 });
afterAll(() => stage[Symbol.asyncDispose]());

const said = (events: readonly LoggedEvent[]): string =>
  events
    .flatMap(({ event }) => (event.type === "agent.message" ? event.content.map((block) => block.text) : []))
    .join("");
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";

// Claude Code refuses to sleep for long.
const sleeps = () => toolUse("Bash", { command: "tail -F waiting.txt" });
const untilCall = (session: Session) =>
  // The model's response is complete by then, and the call is running.
  engine.until(session, ({ event }) => event.type === "span.model_request_end");

test("a Claude Code process dies in the middle of a turn: the turn ends with what happened, and the session continues", async () => {
  stage.rehearsal.use([sleeps(), text("Back.")]);
  const session = await engine.reuse(ALLOW_ALL);
  await engine.say(session, "Sleep.");
  await untilCall(session);
  await stage.killProcesses();
  const events = await engine.until(session, isIdle);
  expect(the(events, "session.error").error).toMatchObject({ tandem: { code: "process_died" } });
  expect(the(events, "agent.tool_result")).toMatchObject({
    is_error: true,
    tool_use_id: the(events, "agent.tool_use").id,
    tandem: { interrupted: "crash" },
  });
  expect(said(await engine.turn(session, "Are you there?"))).toBe("Back.");
  expect(lastRequest()).toContain("Sleep.");
});

describe("a server that dies during a turn", () => {
  /** Runs a turn up to its call. Then the engine vanishes: no more heartbeats, no process, no writes. */
  async function crash(words: string) {
    stage.rehearsal.use([sleeps()]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, words);
    await untilCall(session);
    await engine.vanish();
    await stage.killProcesses();
    return session;
  }

  test("is replaced by a server that logs the recovery within seconds and takes the next message", async () => {
    const session = await crash("Sleep, please.");
    engine = await stage.open({ leaseTtl: 1_000 });
    const events = await engine.until(session, isIdle);
    expect(typesOf(events).slice(-5)).toEqual([
      "agent.tool_result",
      "tandem.recovered",
      "session.usage",
      "session.error",
      "session.status_idle",
    ]);
    expect(the(events, "tandem.recovered").closed).toEqual([the(events, "agent.tool_use").id]);
    expect(the(events, "session.usage").usage.output_tokens).toBeGreaterThan(0);
    stage.rehearsal.use([text("Good morning.")]);
    expect(said(await engine.turn(session, "Wake up."))).toBe("Good morning.");
    expect(lastRequest()).toContain("Sleep, please.");
  });

  test("is replaced by a server that resumes the turn", async () => {
    const session = await crash("Sleep once more.");
    stage.rehearsal.use([text("I went on.")]);
    engine = await stage.open({ leaseTtl: 1_000, recovery: "resume" });
    const events = await engine.until(session, isIdle);
    expect(typesOf(events)).toContain("tandem.recovered");
    expect(said(events)).toBe("I went on.");
    expect(lastRequest()).toContain("Sleep once more.");
  });

  test("is replaced by a server that ends a turn which a client had interrupted, and does not resume it", async () => {
    stage.rehearsal.use([sleeps()]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "Sleep until I say stop.");
    await untilCall(session);
    // Claude Code cannot react before the server dies.
    for (const pid of await stage.processes()) process.kill(-pid, "SIGSTOP");
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await engine.until(session, ({ event }) => event.type === "user.interrupt");
    await engine.vanish();
    await stage.killProcesses();
    stage.rehearsal.use([text("I went on.")]);
    engine = await stage.open({ leaseTtl: 1_000, recovery: "resume" });
    const events = await engine.until(session, isIdle);
    expect(typesOf(events)).toContain("tandem.recovered");
    expect(the(events, "agent.tool_result")).toMatchObject({ is_error: true });
    expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "end_turn" });
    expect(stage.rehearsal.modelRequests).toEqual([]);
  });

  test("keeps the input of clients", async () => {
    stage.rehearsal.use([slowly(text("Slow."), { firstByteMs: 30_000 })]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "One.");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start");
    const second = await engine.say(session, "Two.");
    await engine.vanish();
    await stage.killProcesses();
    stage.rehearsal.use([always(text("To the second."))]);
    engine = await stage.open({ leaseTtl: 1_000 });
    const events = await engine.until(
      session,
      ({ event }) => event.type === "session.status_idle" && event.stop_reason.type === "end_turn",
    );
    expect(events.filter(({ event }) => event.id === second)).toHaveLength(1);
    expect(said(events)).toBe("To the second.");
  });
});

test("no process is left after engines have stopped", async () => {
  stage.rehearsal.use([sleeps()]);
  const session = await engine.reuse(ALLOW_ALL);
  const head = await engine.engine.sessions.head(session.id);
  await engine.say(session, "Sleep.");
  await untilCall(session);
  await engine.stop();
  expect(await stage.processes()).toEqual([]);
  const after = await stage.open();
  const { events } = await after.engine.sessions.events(session.id, { after: head, limit: 100 });
  expect(typesOf(events).at(-1)).toBe("session.status_idle");
  expect(the(events, "agent.tool_result")).toMatchObject({ tandem: { interrupted: "stopped" } });
  expect(the(events, "session.error")).toMatchObject({ error: { message: expect.stringContaining("was stopped") } });
  expect(the(events, "session.status_idle")).toMatchObject({ stop_reason: { type: "retries_exhausted" } });
});
