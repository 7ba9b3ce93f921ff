import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventId, LoggedEvent } from "@tandem/protocol";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isIdle, setEngineStage, textsOf, the, typesOf } from "./testing/engine-stage.ts";
import type { EngineStage, RunningEngine } from "./testing/engine-stage.ts";

let stage: EngineStage;
let engine: RunningEngine;
beforeAll(async () => {
  stage = await setEngineStage();
  engine = await stage.open();
});
afterAll(() => stage[Symbol.asyncDispose]());

const said = (events: readonly LoggedEvent[]): string => textsOf(events).join("");

/** The last model request as one text. */
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body);

const stopOf = (events: readonly LoggedEvent[]) => the(events.slice(-1), "session.status_idle").stop_reason;

const writes = (name: string) => toolUse("Write", { file_path: join(stage.folder, name), content: "written" });
const requiresAction = ({ event }: LoggedEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";

/** Runs up to the first call that waits for an answer. */
async function untilWaiting(running: RunningEngine, session: Parameters<RunningEngine["say"]>[0], words = "Do it.") {
  await running.say(session, words);
  const events = await running.until(session, requiresAction);
  const stop = stopOf(events);
  if (stop.type !== "requires_action") throw new Error("unreachable");
  return { events, ids: stop.event_ids };
}

describe("a call that needs approval", () => {
  test("waits, runs once it is allowed, and its result reaches the model", async () => {
    stage.rehearsal.use([writes("allowed.txt"), text("Written.")]);
    const session = await engine.session();
    const { events, ids } = await untilWaiting(engine, session);
    const use = the(events, "agent.tool_use");
    expect(use).toMatchObject({ name: "Write", evaluated_permission: "ask" });
    expect(ids).toEqual([use.id]);
    expect(await engine.engine.sessions.get(session.id)).toMatchObject({ status: "idle" });
    expect(existsSync(join(stage.folder, "allowed.txt"))).toBe(false);
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: use.id, result: "allow" },
    ]);
    const rest = await engine.until(session, isIdle, head);
    expect(typesOf(rest).slice(0, 3)).toEqual([
      "user.tool_confirmation",
      "tandem.approval_resolved",
      "session.status_running",
    ]);
    expect(the(rest, "agent.tool_result")).toMatchObject({ tool_use_id: use.id });
    expect(existsSync(join(stage.folder, "allowed.txt"))).toBe(true);
    expect(stopOf(rest)).toEqual({ type: "end_turn" });
  });

  test("does not run when it is denied, and the model gets the reason", async () => {
    stage.rehearsal.use([writes("denied.txt"), text("I see.")]);
    const session = await engine.session();
    const { ids } = await untilWaiting(engine, session);
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: ids[0]!, result: "deny", deny_message: "Not in my house." },
    ]);
    const rest = await engine.until(session, isIdle, head);
    expect(the(rest, "agent.tool_result")).toMatchObject({ is_error: true });
    expect(lastRequest()).toContain("Not in my house.");
    expect(existsSync(join(stage.folder, "denied.txt"))).toBe(false);
  });

  test("is answered once, and only by a matching event", async () => {
    stage.rehearsal.use([writes("once.txt"), text("Done.")]);
    const session = await engine.session();
    const { ids } = await untilWaiting(engine, session);
    const send = (event: Parameters<typeof engine.engine.sessions.send>[1][number]) =>
      engine.engine.sessions.send(session.id, [event]);
    await expect(send({ type: "user.custom_tool_result", custom_tool_use_id: ids[0]! })).rejects.toThrow(/no call/);
    await expect(send({ type: "user.tool_confirmation", tool_use_id: "toolu_1", result: "allow" })).rejects.toThrow(
      /sevt_/,
    );
    await send({ type: "user.tool_confirmation", tool_use_id: ids[0]!, result: "deny" });
    await engine.until(
      session,
      ({ event }) => event.type === "session.status_idle" && event.stop_reason.type === "end_turn",
    );
    await expect(send({ type: "user.tool_confirmation", tool_use_id: ids[0]!, result: "allow" })).rejects.toThrow(
      /no call/,
    );
  });

  test("survives a restart: a later answer counts, for exactly that call", async () => {
    const first = await stage.open();
    stage.rehearsal.use([writes("later.txt")]);
    const session = await first.session();
    const { ids } = await untilWaiting(first, session);
    await first.stop();
    const second = await stage.open();
    stage.rehearsal.use([writes("later.txt"), text("Finally.")]);
    expect(await second.engine.sessions.get(session.id)).toMatchObject({ status: "idle" });
    const head = await second.engine.sessions.head(session.id);
    await second.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: ids[0]!, result: "allow" },
    ]);
    const rest = await second.until(session, isIdle, head);
    expect(said(rest)).toBe("Finally.");
    expect(existsSync(join(stage.folder, "later.txt"))).toBe(true);
  });
});

describe("a custom tool", () => {
  const agent = {
    tools: [
      {
        type: "custom" as const,
        name: "weather",
        description: "The weather of a city.",
        input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
      },
    ],
  };
  const call = (city: string, id: string) => toolUse("mcp__tandem__weather", { city }, { id });

  test("is called by the model and answered by the client", async () => {
    stage.rehearsal.use([call("Bern", "toolu_1"), text("It rains.")]);
    const session = await engine.session({}, agent);
    const { events, ids } = await untilWaiting(engine, session);
    expect(the(events, "agent.custom_tool_use")).toMatchObject({
      name: "weather",
      input: { city: "Bern" },
      id: ids[0],
    });
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      {
        type: "user.custom_tool_result",
        custom_tool_use_id: ids[0]!,
        content: [{ type: "text", text: "rain, 8 degrees" }],
      },
    ]);
    const rest = await engine.until(session, isIdle, head);
    expect(lastRequest()).toContain("rain, 8 degrees");
    expect(said(rest)).toBe("It rains.");
  });

  test("two calls: answering one leaves the other waiting", async () => {
    stage.rehearsal.use([reply([call("Bern", "toolu_1"), call("Rome", "toolu_2")]), text("Rain and sun.")]);
    const session = await engine.session({}, agent);
    await engine.say(session, "Compare.");
    const both = ({ event }: LoggedEvent): boolean =>
      event.type === "session.status_idle" &&
      event.stop_reason.type === "requires_action" &&
      event.stop_reason.event_ids.length === 2;
    const events = await engine.until(session, both);
    const ids = events.flatMap(({ event }) => (event.type === "agent.custom_tool_use" ? [event.id] : []));
    const answer = (id: EventId, words: string) =>
      engine.engine.sessions.send(session.id, [
        { type: "user.custom_tool_result", custom_tool_use_id: id, content: [{ type: "text", text: words }] },
      ]);
    let head = await engine.engine.sessions.head(session.id);
    await answer(ids[0]!, "rain");
    const rest = await engine.until(session, isIdle, head);
    expect(stopOf(rest)).toEqual({ type: "requires_action", event_ids: [ids[1]] });
    head = await engine.engine.sessions.head(session.id);
    await answer(ids[1]!, "sun");
    expect(said(await engine.until(session, isIdle, head))).toBe("Rain and sun.");
  });

  test("survives a restart", async () => {
    const first = await stage.open();
    stage.rehearsal.use([call("Bern", "toolu_1")]);
    const session = await first.session({}, agent);
    const { ids } = await untilWaiting(first, session);
    await first.stop();
    const second = await stage.open();
    stage.rehearsal.use([text("It snows.")]);
    const head = await second.engine.sessions.head(session.id);
    await second.engine.sessions.send(session.id, [
      {
        type: "user.custom_tool_result",
        custom_tool_use_id: ids[0]!,
        content: [{ type: "text", text: "snow, much of it" }],
      },
    ]);
    const rest = await second.until(session, isIdle, head);
    expect(lastRequest()).toContain("snow, much of it");
    expect(said(rest)).toBe("It snows.");
  });
});
