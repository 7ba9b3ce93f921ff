import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventId, LoggedEvent } from "@tandem/protocol";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { isIdle, setEngineStage, textsOf, the, typesOf, type RunningEngine } from "./testing/engine-stage.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const said = (events: readonly LoggedEvent[]): string => textsOf(events).join("");

/** The body of the last model request as text. */
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body);

const stopOf = (events: readonly LoggedEvent[]) => the(events.slice(-1), "session.status_idle").stop_reason;

const writes = (name: string, id?: string) =>
  toolUse("Write", { file_path: join(stage.folder, name), content: "written" }, id ? { id } : {});
const requiresAction = ({ event }: LoggedEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";

/** Runs up to the first call that needs an answer. */
async function untilWaiting(session: Parameters<RunningEngine["say"]>[0]) {
  await engine.say(session, "Do it.");
  const events = await engine.until(session, requiresAction);
  const stop = stopOf(events);
  if (stop.type !== "requires_action") throw new Error("unreachable");
  return { events, ids: stop.event_ids };
}

describe("a call that must be asked for", () => {
  test("waits, runs once it is allowed, and its result reaches the model", async () => {
    stage.rehearsal.use([writes("allowed.txt"), text("Written.")]);
    const session = await engine.reuse();
    const { events, ids } = await untilWaiting(session);
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
    expect(typesOf(rest).slice(0, 4)).toEqual([
      "user.tool_confirmation",
      "tandem.approval_resolved",
      "tandem.tool_state",
      "session.status_running",
    ]);
    expect(the(rest, "agent.tool_result")).toMatchObject({ tool_use_id: use.id });
    expect(existsSync(join(stage.folder, "allowed.txt"))).toBe(true);
    expect(stopOf(rest)).toEqual({ type: "end_turn" });
  });

  test("does not run when it is denied, and the model is told why", async () => {
    stage.rehearsal.use([writes("denied.txt"), text("I see.")]);
    const session = await engine.reuse();
    const { ids } = await untilWaiting(session);
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: ids[0]!, result: "deny", deny_message: "Not in my house." },
    ]);
    const rest = await engine.until(session, isIdle, head);
    expect(the(rest, "agent.tool_result")).toMatchObject({ is_error: true });
    expect(lastRequest()).toContain("Not in my house.");
    expect(existsSync(join(stage.folder, "denied.txt"))).toBe(false);
  });

  test("is answered once, and only by what fits it", async () => {
    stage.rehearsal.use([writes("once.txt"), text("Done.")]);
    const session = await engine.reuse();
    const { ids } = await untilWaiting(session);
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
  const waitsForBoth = ({ event }: LoggedEvent): boolean =>
    event.type === "session.status_idle" &&
    event.stop_reason.type === "requires_action" &&
    event.stop_reason.event_ids.length === 2;
  const call = (city: string, id: string) => toolUse("mcp__tandem__weather", { city }, { id });

  test("is called by the model and answered by the client", async () => {
    stage.rehearsal.use([call("Bern", "toolu_1"), text("It rains.")]);
    const session = await engine.reuse(agent);
    const { events, ids } = await untilWaiting(session);
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

  test("two at once: answering one leaves the other waiting", async () => {
    stage.rehearsal.use([reply([call("Bern", "toolu_3"), call("Rome", "toolu_4")]), text("Rain and sun.")]);
    const session = await engine.reuse(agent);
    await engine.say(session, "Compare.");
    const events = await engine.until(session, waitsForBoth);
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

  test("outlives the server with a call that must be approved: after a restart, both answers count", async () => {
    const first = await stage.open();
    stage.rehearsal.use([reply([call("Bern", "toolu_1"), writes("later.txt", "toolu_2")])]);
    const session = await first.session({}, { tools: [{ type: "agent_toolset_20260401" }, ...agent.tools] });
    await first.say(session, "Do both.");
    const events = await first.until(session, waitsForBoth);
    await first.stop();
    const second = await stage.open();
    expect(await second.engine.sessions.get(session.id)).toMatchObject({ status: "idle" });
    stage.rehearsal.use([text("It snows.")]);
    const head = await second.engine.sessions.head(session.id);
    await second.engine.sessions.send(session.id, [
      {
        type: "user.custom_tool_result",
        custom_tool_use_id: the(events, "agent.custom_tool_use").id,
        content: [{ type: "text", text: "snow, much of it" }],
      },
      { type: "user.tool_confirmation", tool_use_id: the(events, "agent.tool_use").id, result: "allow" },
    ]);
    const rest = await second.until(
      session,
      ({ event }) => event.type === "session.status_idle" && event.stop_reason.type === "end_turn",
      head,
    );
    expect(lastRequest()).toContain("snow, much of it");
    expect(said(rest)).toBe("It snows.");
    expect(existsSync(join(stage.folder, "later.txt"))).toBe(true);
    await second.stop();
  });
});
