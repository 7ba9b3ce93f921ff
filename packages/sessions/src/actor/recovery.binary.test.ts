import type { LoggedEvent } from "@tandem/protocol";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, textsOf, the, typesOf } from "../testing/engine-stage.ts";
import type { EngineStage, RunningEngine } from "../testing/engine-stage.ts";

let stage: EngineStage;
beforeAll(async () => {
  stage = await setEngineStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const said = (events: readonly LoggedEvent[]): string => textsOf(events).join("");
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";

// Claude Code refuses to sleep for long.
const sleeps = () => toolUse("Bash", { command: "tail -F waiting.txt" });
const untilCall = (running: RunningEngine, session: Parameters<RunningEngine["say"]>[0]) =>
  // The model's response is complete by then, and the call is running.
  running.until(session, ({ event }) => event.type === "span.model_request_end");

/** Ends every Claude Code of the stage as a crash would. */
async function killProcesses(): Promise<void> {
  for (const pid of await stage.processes()) process.kill(-pid, "SIGKILL");
}

describe("a Claude Code process that dies during a turn", () => {
  test("ends the turn with the reason, and the session continues in a new process", async () => {
    const engine = await stage.open();
    stage.rehearsal.use([sleeps(), text("Back.")]);
    const session = await engine.session({}, ALLOW_ALL);
    await engine.say(session, "Sleep.");
    await untilCall(engine, session);
    await killProcesses();
    const events = await engine.until(session, isIdle);
    expect(the(events, "session.error").error).toMatchObject({ tandem: { code: "process_died" } });
    expect(the(events, "agent.tool_result")).toMatchObject({
      is_error: true,
      tool_use_id: the(events, "agent.tool_use").id,
      tandem: { interrupted: "crash" },
    });
    expect(said(await engine.turn(session, "Are you there?"))).toBe("Back.");
    expect(lastRequest()).toContain("Sleep.");
    await engine.stop();
  });
});

describe("a server that dies during a turn", () => {
  /** Runs a turn up to its call, then crashes: no more heartbeats, no process, no writes. */
  async function crash() {
    const engine = await stage.open({ leaseTtl: 1_000, holder: "the one that dies" });
    stage.rehearsal.use([sleeps()]);
    const session = await engine.session({}, ALLOW_ALL);
    await engine.say(session, "Sleep, please.");
    await untilCall(engine, session);
    await engine.vanish();
    await killProcesses();
    return session;
  }

  test("is replaced by a server that logs the recovery within seconds and takes the next message", async () => {
    const session = await crash();
    const engine = await stage.open({ leaseTtl: 1_000 });
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
    await engine.stop();
  });

  test("is replaced by a server that resumes the turn", async () => {
    const session = await crash();
    stage.rehearsal.use([text("I went on.")]);
    const engine = await stage.open({ leaseTtl: 1_000, recovery: "resume" });
    const events = await engine.until(session, isIdle);
    expect(typesOf(events)).toContain("tandem.recovered");
    expect(said(events)).toBe("I went on.");
    expect(lastRequest()).toContain("Sleep, please.");
    await engine.stop();
  });

  test("keeps the input of clients", async () => {
    const engine = await stage.open({ leaseTtl: 1_000 });
    stage.rehearsal.use([slowly(text("Slow."), { firstByteMs: 30_000 })]);
    const session = await engine.session();
    await engine.say(session, "One.");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start");
    const second = await engine.say(session, "Two.");
    await engine.vanish();
    await killProcesses();
    stage.rehearsal.use([always(text("To the second."))]);
    const next = await stage.open({ leaseTtl: 1_000 });
    const events = await next.until(
      session,
      ({ event }) => event.type === "session.status_idle" && event.stop_reason.type === "end_turn",
    );
    expect(events.filter(({ event }) => event.id === second)).toHaveLength(1);
    expect(said(events)).toBe("To the second.");
    await next.stop();
  });
});

test("no process is left after engines have stopped", async () => {
  const engine = await stage.open();
  stage.rehearsal.use([sleeps()]);
  const session = await engine.session({}, ALLOW_ALL);
  await engine.say(session, "Sleep.");
  await untilCall(engine, session);
  await engine.stop();
  expect(await stage.processes()).toEqual([]);
  const after = await stage.open();
  const { events } = await after.engine.sessions.events(session.id, { limit: 100 });
  expect(typesOf(events).at(-1)).toBe("session.status_idle");
  expect(the(events, "agent.tool_result")).toMatchObject({ tandem: { interrupted: "stopped" } });
});
