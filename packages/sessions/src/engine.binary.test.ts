import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LiveDelta, LoggedEvent } from "@tandem/protocol";
import { creditTooLow, object, raw, reply, slowly, text, thinking, times, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, inject, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, TEST_SANDBOX, textsOf, the, typesOf } from "./testing/engine-stage.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const said = (events: readonly LoggedEvent[]): string => textsOf(events).join("");

/** The body of the last model request as text. */
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body);

/** A streamed answer, word by word; `before` may hold a word back. */
async function* inPieces(words: string, before: (index: number) => Promise<void> | undefined) {
  const frame = (data: { type: string; [field: string]: unknown }): Buffer =>
    Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  const usage = { input_tokens: 1, output_tokens: 10 };
  const ended = { stop_reason: "end_turn", stop_sequence: null };
  const message = {
    id: "msg_pieces",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5-5",
    content: [],
    usage,
  };
  yield frame({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } });
  yield frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (const [index, piece] of words.split(/(?= )/).entries()) {
    await before(index);
    yield frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } });
  }
  yield frame({ type: "content_block_stop", index: 0 });
  yield frame({ type: "message_delta", delta: ended, usage });
  yield frame({ type: "message_stop" });
}

const stopOf = (events: readonly LoggedEvent[]) => the(events.slice(-1), "session.status_idle").stop_reason;

describe("a turn", () => {
  test("runs from the message to idle, with everything in the log in order", async () => {
    stage.rehearsal.use([reply([thinking("Let me think."), text("Hello there.")])]);
    const session = await engine.reuse();
    const events = await engine.turn(session, "Hello?");
    expect(typesOf(events).filter((type) => !type.startsWith("tandem."))).toEqual([
      "user.message",
      "session.status_running",
      "span.model_request_start",
      "agent.thinking",
      "agent.message",
      "span.model_request_end",
      "session.usage",
      "session.status_idle",
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(the(events, "tandem.thinking")).toMatchObject({ text: "Let me think.", signature: "made-up-signature" });
    expect(said(events)).toBe("Hello there.");
    expect(the(events, "tandem.init").sandbox).toMatchObject({ on: TEST_SANDBOX !== undefined });
    expect(stopOf(events)).toEqual({ type: "end_turn" });
    expect(await engine.engine.sessions.get(session.id)).toMatchObject({
      status: "idle",
      usage: { output_tokens: expect.any(Number) },
    });
  });

  test("continues the conversation in the same process", async () => {
    stage.rehearsal.use([text("First."), text("Second.")]);
    const session = await engine.reuse();
    await engine.turn(session, "The word is marmalade.");
    const before = (await stage.processes()).length;
    await engine.turn(session, "What was the word?");
    expect(lastRequest()).toContain("marmalade");
    expect((await stage.processes()).length).toBe(before);
  });

  test("streams previews before the event", async () => {
    stage.rehearsal.use([text("One two three.")]);
    const session = await engine.reuse();
    const deltas: string[] = [];
    const ids = new Set<string>();
    const stop = engine.engine.sessions.onDelta(session.id as never, {
      after: 0,
      hear(live) {
        for (const { delta } of live) {
          if (delta.type === "event_start") ids.add(delta.event.id);
          if (delta.type === "event_delta") deltas.push(delta.delta.content.text);
        }
      },
    });
    const events = await engine.turn(session, "Count.");
    stop();
    expect(deltas.join("")).toBe("One two three.");
    expect(ids).toContain(the(events, "agent.message").id);
  });

  test("sends the existing text to a late subscriber, then the rest, then the event", async () => {
    const words = "One two three four five six seven eight nine ten.";
    const subscribed = Promise.withResolvers<void>();
    const pieces = inPieces(words, (index) => (index === 3 ? subscribed.promise : undefined));
    stage.rehearsal.use([raw(200, { "content-type": "text/event-stream" }, pieces)]);
    const session = await engine.reuse();
    const { sessions } = engine.engine;
    const spoken = (live: readonly LiveDelta[]): string[] =>
      live.flatMap(({ delta }) => (delta.type === "event_delta" ? [delta.delta.content.text] : []));
    const begun = Promise.withResolvers<void>();
    const stopFirst = sessions.onDelta(session.id as never, {
      after: 0,
      hear(live) {
        if (spoken(live).length > 0) begun.resolve();
      },
    });
    await engine.say(session, "Count.");
    await begun.promise;
    const late: LiveDelta[] = [];
    const stop = sessions.onDelta(session.id as never, { after: 0, hear: (live) => late.push(...live) });
    // At once, and in one piece.
    expect(late).toMatchObject([{ delta: { type: "event_start" } }, { delta: { type: "event_delta" } }]);
    expect(words.startsWith(spoken(late)[0]!)).toBe(true);
    expect(spoken(late)[0]!.length).toBeLessThan(words.length);
    subscribed.resolve();
    const events = await engine.until(session, isIdle);
    stopFirst();
    stop();
    expect(spoken(late).join("")).toBe(words);
    expect(said(events)).toBe(words);
    // Once it is logged, no client gets a preview of it.
    const after: LiveDelta[] = [];
    sessions.onDelta(session.id as never, { after: 0, hear: (live) => after.push(...live) })();
    expect(after).toEqual([]);
  });

  test("a turn that fails logs the reason, and the session continues", async () => {
    stage.rehearsal.use([creditTooLow(), text("Back again.")]);
    const session = await engine.reuse();
    const cutShort = async () => (await engine.store.sessions.get(session.id))!.cutShort;
    const events = await engine.turn(session, "Hello?");
    expect(the(events, "session.error").error).toMatchObject({
      type: "billing_error",
      retry_status: { type: "exhausted" },
    });
    expect(stopOf(events)).toEqual({ type: "retries_exhausted" });
    expect(await cutShort()).toBe("retries_exhausted");
    expect(said(await engine.turn(session, "And now?"))).toBe("Back again.");
    expect(await cutShort()).toBeNull();
  });
});

describe("messages during a turn", () => {
  test("are queued, listed as waiting, and taken after the turn, before the session is idle", async () => {
    // The first answer comes when the second message waits.
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    stage.rehearsal.use([times(1, () => promise.then(() => text("The first."))), text("The second.")]);
    const session = await engine.reuse();
    await engine.say(session, "One.");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start");
    const second = await engine.say(session, "Two.");
    const { waiting } = await engine.engine.sessions.events(session.id, { limit: 1000 });
    expect(waiting).toMatchObject([{ id: second, processed_at: null }]);
    answer();
    const events = await engine.until(session, isIdle);
    expect(said(events)).toBe("The first.The second.");
    expect(events.find(({ event }) => event.id === second)?.event.processed_at).not.toBeNull();
    expect((await engine.engine.sessions.events(session.id, { limit: 1000 })).waiting).toEqual([]);
  });

  test("can steer it", async () => {
    stage.rehearsal.use([
      slowly(toolUse("Read", { file_path: join(stage.folder, "notes.txt") }), { firstByteMs: 500 }),
      text("Understood."),
    ]);
    await writeFile(join(stage.folder, "notes.txt"), "nothing");
    const session = await engine.reuse();
    await engine.say(session, "Read my notes.");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start");
    const steer = await engine.say(session, "Speak French from now on.", "steer");
    const events = await engine.until(session, isIdle);
    expect(lastRequest()).toContain("Speak French");
    expect(events.find(({ event }) => event.id === steer)).toBeDefined();
  });
});

describe("interrupts", () => {
  test("end the turn, close open calls, and the conversation continues", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "tail -F waiting.txt" }), text("Still here.")]);
    const session = await engine.reuse(ALLOW_ALL);
    await engine.say(session, "Sleep.");
    await engine.until(session, ({ event }) => event.type === "agent.tool_use");
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    const events = await engine.until(session, isIdle);
    expect(stopOf(events)).toEqual({ type: "end_turn" });
    expect(the(events, "agent.tool_result")).toMatchObject({
      is_error: true,
      tool_use_id: the(events, "agent.tool_use").id,
    });
    expect(said(await engine.turn(session, "Are you there?"))).toBe("Still here.");
  });

  test("have no effect on an idle session", async () => {
    stage.rehearsal.use([text("Hello."), text("Again.")]);
    const session = await engine.reuse();
    await engine.turn(session, "Hello?");
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    const events = await engine.until(session, () => true, head);
    expect(typesOf(events)).toEqual(["user.interrupt"]);
    expect(said(await engine.turn(session, "Go on."))).toBe("Again.");
  });

  test("interrupts that name another turn have no effect", async () => {
    stage.rehearsal.use([slowly(text("Quite undisturbed."), { tokenMs: 30 })]);
    const session = await engine.reuse();
    await engine.say(session, "Tell me.");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start");
    await engine.engine.sessions.send(session.id, [
      { type: "user.interrupt", tandem: { turn_event_id: "sevt_other" } },
    ]);
    expect(said(await engine.until(session, isIdle))).toBe("Quite undisturbed.");
  });
});

describe("processes", () => {
  test("are released when a session is idle; the conversation continues, also on a server with another home", async () => {
    const first = await stage.open({ idle: 100, home: join(stage.root, "home-1") });
    stage.rehearsal.use([text("Noted."), text("Marmalade.")]);
    const session = await first.session();
    const before = await stage.processes();
    await first.turn(session, "The word is marmalade.");
    const pid = (await stage.processes()).find((each) => !before.includes(each));
    await expect.poll(() => first.store.leases.holder(session.id as never)).toBeUndefined();
    expect(await stage.processes()).not.toContain(pid);
    await first.stop();
    const second = await stage.open({ home: join(stage.root, "home-2"), stateFolder: join(stage.root, "state-2") });
    expect(said(await second.turn(session, "What was the word?"))).toBe("Marmalade.");
    expect(lastRequest()).toContain("The word is marmalade.");
    await second.stop();
  });

  test("a second server can read, and gets the holder's name on writes", async () => {
    stage.rehearsal.use([text("Mine.")]);
    const session = await engine.reuse();
    await engine.turn(session, "Whose are you?");
    const other = await stage.open();
    expect((await other.engine.sessions.events(session.id, { limit: 10 })).events.length).toBeGreaterThan(5);
    await expect(other.engine.sessions.update(session.id, { title: "Mine now" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("engine 1"),
    });
    await other.stop();
  });
});

test("the cost is reported with each answer, and a budget ends the turn that exceeds it", async () => {
  await writeFile(join(stage.folder, "dear.txt"), "nothing");
  const read = (tokens: number) =>
    toolUse("Read", { file_path: join(stage.folder, "dear.txt") }, { usage: { input_tokens: tokens } });
  // $2 per million tokens in. The second reply does not come before the interrupt.
  stage.rehearsal.use([read(100_000), slowly(text("Done."), { firstByteMs: 60_000 })]);
  const session = await engine.session({ budget: { type: "limit", max_list_cost: { amount: "50", currency: "USD" } } });
  const stop = AbortSignal.timeout(30_000 * inject("slowness"));
  const costs = (async () => {
    for await (const item of engine.engine.sessions.feed(stop)) {
      if (item.type !== "changed" || item.session.id !== session.id) continue;
      if (Number(item.session.list_cost.amount) > 0) return item.session;
    }
    return undefined;
  })();
  await engine.say(session, "Read it.");
  const told = await costs;
  expect(told).toMatchObject({ status: "running", list_cost: { amount: expect.stringMatching(/^2\d$/) } });
  expect(await engine.engine.sessions.get(session.id)).toMatchObject({
    usage: { input_tokens: 100_000, list_cost: told!.list_cost },
  });
  await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
  await engine.until(session, isIdle);

  stage.rehearsal.use([read(1_000_000), text("Never said.")]);
  const events = await engine.turn(session, "Spend.");
  expect(stopOf(events)).toEqual({ type: "budget_reached" });
  expect(said(events)).toBe("");
  await expect(engine.say(session, "More.")).rejects.toThrow(/budget/);
});

test("with an output schema, a turn returns an object", async () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const session = await engine.session({ metadata: { "tandem.output_schema": JSON.stringify(schema) } });
  stage.rehearsal.use([object({ n: 7 })]);
  const events = await engine.turn(session, "Seven?");
  expect(the(events, "tandem.output").value).toEqual({ n: 7 });
});
