import { NotFoundError, NotImplementedError } from "@anthropic-ai/sdk";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType } from "../testing/collect-stream.ts";
import { setJudgeStage, type JudgeStage } from "../testing/judge-stage.ts";

let stage: JudgeStage;
let session: string;
beforeAll(async () => {
  stage = await setJudgeStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

test("a subagent is a thread with its own events", async () => {
  stage.rehearsal.use([
    toolUse("Agent", { description: "d", prompt: "Review it.", subagent_type: "reviewer", run_in_background: false }),
    text("Looks fine to me."),
    text("The reviewer is content."),
  ]);
  const { sessions } = stage.client.beta;
  const reviewer = await stage.agent({ name: "reviewer", description: "Reviews." });
  session = await stage.session({}, { multiagent: { type: "coordinator", agents: [reviewer] } });
  const stream = await sessions.events.stream(session);
  await stage.say(session, "Have it reviewed.");
  const seen = await collectUntil(stream, endsTurn);
  const [created] = ofType(seen, "session.thread_created");
  expect(created).toMatchObject({ agent_name: "reviewer", workflow_run_id: null });
  expect(ofType(seen, "agent.message").map(({ content }) => content)).toEqual([
    [{ type: "text", text: "The reviewer is content." }],
  ]);

  const threads = [];
  for await (const thread of sessions.threads.list(session, { limit: 1 })) threads.push(thread);
  expect(threads).toMatchObject([
    { type: "session_thread", session_id: session, parent_thread_id: null },
    { id: created!.session_thread_id, parent_thread_id: threads[0]!.id, agent: { name: "reviewer" } },
  ]);
  const child = await sessions.threads.retrieve(created!.session_thread_id, { session_id: session });
  expect(child).toEqual(threads[1]);
  const own = [];
  for await (const event of sessions.threads.events.list(child.id, { session_id: session, limit: 2 })) own.push(event);
  expect(JSON.stringify(own)).toContain("Looks fine to me.");
  expect(JSON.stringify(own)).not.toContain("The reviewer is content.");
  await expect(sessions.threads.archive(child.id, { session_id: session })).rejects.toThrow(NotImplementedError);
  await expect(sessions.threads.retrieve("sthr_nothing", { session_id: session })).rejects.toThrow(NotFoundError);
});

test("the stream of the primary thread is the session's", async () => {
  stage.rehearsal.use([text("Here.")]);
  const { sessions } = stage.client.beta;
  const [primary] = (await sessions.threads.list(session)).data;
  const stream = await sessions.threads.events.stream(primary!.id, {
    session_id: session,
    event_deltas: ["agent.message"],
  });
  await stage.say(session, "Where?");
  const seen = await collectUntil(stream as never, endsTurn);
  expect(ofType(seen, "agent.message")).toHaveLength(1);
  expect(ofType(seen, "event_start")).toHaveLength(1);
});
