import { existsSync } from "node:fs";
import { join } from "node:path";
import { BadRequestError } from "@anthropic-ai/sdk";
import { reply, slowly, stallMidStream, text, thinking, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType, requiresAction, standardTypes } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";
import { REAL_DEADLINE_MS, StreamReader } from "../testing/read-stream.ts";

/** The session of the documentation's sample. */
let sample: string;
const stage = await setJudgeStage();
/** One session for most tests: each new one starts a process. */
const session = await stage.session();
afterAll(() => stage[Symbol.asyncDispose]());

const events = () => stage.client.beta.sessions.events;

async function history(session: string) {
  const found = [];
  for await (const event of events().list(session, { limit: 7 })) found.push(event);
  return found;
}

test("the sample of Anthropic's documentation: agent, environment, session, message, stream, list", async () => {
  stage.rehearsal.use([reply([thinking("Let me think."), text("Hello there.")])]);
  const { client } = stage;
  const agent = await client.beta.agents.create({
    name: "Coding Assistant",
    model: "sonnet",
    system: "You are a helpful coding assistant.",
    tools: [{ type: "agent_toolset_20260401" }],
  });
  const environment = await client.beta.environments.create({
    name: "quickstart-env",
    config: { type: "cloud", networking: { type: "unrestricted" } },
  });
  const { id } = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    title: "Quickstart",
  });
  sample = id;
  const stream = await events().stream(sample);
  const sent = await events().send(sample, {
    events: [{ type: "user.message", content: [{ type: "text", text: "Hello?" }] }],
  });
  expect(sent.data).toMatchObject([{ type: "user.message", id: expect.stringMatching(/^sevt_/), processed_at: null }]);
  const seen = await collectUntil(stream, endsTurn);
  expect(
    seen.map(({ type }) => type),
    "only types that the client knows",
  ).toEqual([
    "user.message",
    "session.status_running",
    "span.model_request_start",
    "agent.thinking",
    "agent.message",
    "span.model_request_end",
    "session.usage",
    "session.status_idle",
  ]);
  expect(ofType(seen, "agent.message")[0]!.content).toEqual([{ type: "text", text: "Hello there." }]);
  expect((await history(sample)).filter(({ type }) => !type.startsWith("tandem."))).toEqual(seen);
});

describe("previews", () => {
  test("come before their event, in pieces", async () => {
    stage.rehearsal.use([slowly(reply([thinking("Hm."), text("One two three four.")]), { tokenMs: 10 })]);
    const stream = await events().stream(session, { event_deltas: ["agent.message", "agent.thinking"] });
    await stage.say(session, "Count.");
    const seen = await collectUntil(stream, endsTurn);
    const [message] = ofType(seen, "agent.message");
    const starts = ofType(seen, "event_start").map(({ event }) => event);
    expect(starts).toEqual([
      { type: "agent.thinking", id: ofType(seen, "agent.thinking")[0]!.id },
      { type: "agent.message", id: message!.id },
    ]);
    const pieces = ofType(seen, "event_delta").filter(({ event_id: id }) => id === message!.id);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map(({ delta }) => delta.content.text).join("")).toBe("One two three four.");
    const place = (type: string) => seen.findIndex((event) => event.type === type);
    expect(place("span.model_request_start")).toBeLessThan(place("event_start"));
    expect(seen.findLastIndex(({ type }) => type === "event_delta")).toBeLessThan(place("agent.message"));
    expect((await history(session)).map(({ type }) => type)).not.toContain("event_delta");
  });
});

describe("approval", () => {
  const writes = (name: string) => toolUse("Write", { file_path: join(stage.folder, name), content: "hello" });

  test("waits for the client's answer, and runs on allow", async () => {
    stage.rehearsal.use([writes("allowed.txt"), text("Written.")]);
    const stream = await events().stream(session);
    await stage.say(session, "Write it.");
    const asking = await collectUntil(stream, requiresAction);
    const use = ofType(asking, "agent.tool_use").at(-1)!;
    expect(use).toMatchObject({ name: "Write", evaluated_permission: "ask" });
    expect(ofType(asking, "session.status_idle").at(-1)!.stop_reason).toEqual({
      type: "requires_action",
      event_ids: [use.id],
    });
    expect(existsSync(join(stage.folder, "allowed.txt"))).toBe(false);
    const rest = await events().stream(session);
    await events().send(session, {
      events: [{ type: "user.tool_confirmation", tool_use_id: use.id, result: "allow" }],
    });
    const after = await collectUntil(rest, endsTurn);
    expect(ofType(after, "agent.tool_result")[0]).toMatchObject({ tool_use_id: use.id });
    expect(existsSync(join(stage.folder, "allowed.txt"))).toBe(true);
  });

  test("does not run on deny, and the model gets the reason", async () => {
    stage.rehearsal.use([writes("denied.txt"), text("Understood.")]);
    const stream = await events().stream(session);
    await stage.say(session, "Write it.");
    const use = ofType(await collectUntil(stream, requiresAction), "agent.tool_use").at(-1)!;
    const rest = await events().stream(session);
    await events().send(session, {
      events: [
        { type: "user.tool_confirmation", tool_use_id: use.id, result: "deny", deny_message: "Not on a Sunday." },
      ],
    });
    await collectUntil(rest, endsTurn);
    expect(existsSync(join(stage.folder, "denied.txt"))).toBe(false);
    expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body)).toContain("Not on a Sunday.");
  });
});

test("an interrupt ends the turn", async () => {
  stage.rehearsal.use([stallMidStream("A very long answer that is")]);
  const stream = await events().stream(session);
  await stage.say(session, "Talk.");
  await collectUntil(stream, ({ type }) => type === "span.model_request_start");
  const rest = await events().stream(session);
  await events().send(session, { events: [{ type: "user.interrupt" }] });
  const after = await collectUntil(rest, endsTurn);
  expect(standardTypes(after)).toContain("user.interrupt");
});

test("a queued message can be taken back; one that the agent has is a conflict", async () => {
  // The turn stays open until the approval is answered, so later messages are queued.
  stage.rehearsal.use([toolUse("Write", { file_path: join(stage.folder, "asked.txt"), content: "?" }), text("Well.")]);
  const stream = await events().stream(session);
  const say = async (words: string): Promise<string> => {
    const content = [{ type: "text" as const, text: words }];
    const { data } = await events().send(session, { events: [{ type: "user.message", content }] });
    return data![0]!.id;
  };
  const takeBack = async (event: string) => {
    const answer = await stage.server.request(`/v1/sessions/${session}/events/${event}`, { method: "DELETE" });
    return { status: answer.status, body: await answer.json() };
  };
  const first = await say("FIRST-words");
  const use = ofType(await collectUntil(stream, requiresAction), "agent.tool_use").at(-1)!;
  const second = await say("SECOND-words");
  expect(await takeBack(second)).toEqual({ status: 200, body: { type: "event_taken_back", id: second } });
  expect(await takeBack(second)).toMatchObject({ status: 409 });
  expect(await takeBack(first)).toMatchObject({ status: 409, body: { error: { message: /has the message/ } } });
  expect(await takeBack("sevt_none")).toMatchObject({ status: 404 });
  const rest = await events().stream(session);
  await events().send(session, { events: [{ type: "user.tool_confirmation", tool_use_id: use.id, result: "allow" }] });
  await collectUntil(rest, endsTurn);
  const dropped = { type: "tandem.dropped", event_id: second, reason: "taken back by admin" };
  const listed = await events().list(session, {}, { query: { "types[]": "tandem.dropped" } });
  expect(listed.data).toMatchObject([dropped]);
  const asked = JSON.stringify(stage.rehearsal.modelRequests.map(({ body }) => body));
  expect(asked).toContain("FIRST-words");
  expect(asked).not.toContain("SECOND-words");
});

test("Last-Event-ID resumes where a client was disconnected, through a real turn", async () => {
  stage.rehearsal.use([slowly(text("One two three four five six."), { tokenMs: 20 })]);
  const path = `/v1/sessions/${session}/events/stream`;
  const first = await StreamReader.open(stage.server, path, {}, REAL_DEADLINE_MS);
  await stage.say(session, "Count.");
  const { id } = await first.untilType("span.model_request_start");
  await first[Symbol.asyncDispose]();
  await using second = await StreamReader.open(stage.server, path, { "last-event-id": id! }, REAL_DEADLINE_MS);
  await second.untilType("session.status_idle");
  const seen = [...first.events.filter((frame) => Number(frame.id) <= Number(id)), ...second.events];
  expect(seen[0]!.data).toMatchObject({ type: "user.message" });
  expect(seen.map(({ data }) => data)).toEqual((await history(session)).slice(-seen.length));
});

test("a list can be filtered and reversed", async () => {
  const picked = await events().list(sample, { types: ["agent.message", "user.message"], order: "desc" });
  expect(picked.data.map(({ type }) => type)).toEqual(["agent.message", "user.message"]);
  const none = await events().list(sample, { "created_at[gt]": "2100-01-01T00:00:00Z" });
  expect(none.data).toEqual([]);
});

test("an event that clients cannot send is refused by name", async () => {
  const send = (event: object) => events().send(session, { events: [event as never] });
  await expect(send({ type: "user.tool_result", tool_use_id: "sevt_1" })).rejects.toThrow(
    /only self-hosted environments take results/,
  );
  await expect(send({ type: "user.tool_confirmation", tool_use_id: "sevt_1", result: "allow" })).rejects.toThrow(
    BadRequestError,
  );
  await expect(send({ type: "user.message", content: [] })).rejects.toThrow(/at least one content block/);
  await expect(events().stream(session, { event_deltas: ["agent.tool_use" as never] })).rejects.toThrow(
    BadRequestError,
  );
});
