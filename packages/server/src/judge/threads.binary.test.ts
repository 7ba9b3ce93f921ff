import { BadRequestError, ConflictError, NotFoundError } from "@anthropic-ai/sdk";
import { stallMidStream, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType, requiresAction } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

let session: string;
const stage = await setJudgeStage();
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

test("an archived thread has ended, and its agent cannot reach it any more", async () => {
  const { sessions } = stage.client.beta;
  const [primary, child] = (await sessions.threads.list(session)).data;
  const where = { session_id: session };
  await expect(sessions.threads.archive(primary!.id, where)).rejects.toThrow(ConflictError);
  await expect(sessions.threads.archive("sthr_nothing", where)).rejects.toThrow(NotFoundError);

  const stream = await sessions.threads.events.stream(child!.id, where);
  const archived = await sessions.threads.archive(child!.id, where);
  expect(archived).toMatchObject({ id: child!.id, status: "terminated", archived_at: expect.any(String) });
  expect(await sessions.threads.archive(child!.id, where)).toEqual(archived);
  const told = await collectUntil(stream as never, ({ type }) => type === "session.thread_status_terminated");
  expect(ofType(told, "session.thread_status_terminated")).toMatchObject([
    { session_thread_id: child!.id, agent_name: "reviewer" },
  ]);
  const idsOf = async (status: "idle" | "terminated") =>
    (await sessions.threads.list(session, { statuses: [status] })).data.map(({ id }) => id);
  expect(await idsOf("terminated")).toEqual([child!.id]);
  expect(await idsOf("idle")).toEqual([primary!.id]);
  const interrupt = sessions.events.send(session, {
    events: [{ type: "user.interrupt", session_thread_id: child!.id }],
  });
  await expect(interrupt).rejects.toThrow(BadRequestError);

  const task = /agentId: (\w+)/.exec(JSON.stringify(stage.rehearsal.modelRequests.map(({ body }) => body)))?.[1];
  expect(task).toBeTruthy();
  stage.rehearsal.use([
    toolUse("SendMessage", { to: task, summary: "again", message: "Look again." }),
    text("So be it."),
  ]);
  const next = await sessions.events.stream(session);
  await stage.say(session, "Ask the reviewer again.");
  const seen = await collectUntil(next, endsTurn);
  expect(ofType(seen, "agent.tool_use")).toMatchObject([{ name: "SendMessage", evaluated_permission: "deny" }]);
  expect(stage.rehearsal.modelRequests.at(-1)!.toolResults).toMatchObject([
    { isError: true, text: expect.stringContaining("archived this subagent's thread") },
  ]);
  expect(ofType(seen, "session.thread_status_running")).toEqual([]);
});

test("a thread that waits for an approval is idle: archiving it denies the call", async () => {
  stage.rehearsal.use([
    toolUse("Agent", { description: "d", prompt: "Ask me.", subagent_type: "reviewer", run_in_background: false }),
    toolUse("Bash", { command: "touch x" }),
    toolUse("Read", { file_path: "x" }),
    text("Denied, then."),
    text("Over."),
  ]);
  const { sessions } = stage.client.beta;
  const stream = await sessions.events.stream(session);
  await stage.say(session, "Have it reviewed once more.");
  const asked = await collectUntil(stream, requiresAction);
  const [created] = ofType(asked, "session.thread_created");
  const thread = created!.session_thread_id;
  const where = { session_id: session };
  expect((await sessions.threads.retrieve(thread, where)).status).toBe("idle");
  const use = ofType(asked, "agent.tool_use").find(({ name }) => name === "Bash")!.id;
  const elsewhere = { type: "user.tool_confirmation" as const, tool_use_id: use, result: "allow" as const };
  const sent = sessions.events.send(session, { events: [{ ...elsewhere, session_thread_id: "sthr_x" } as never] });
  await expect(sent).rejects.toThrow(/400.*not of the thread sthr_x/);
  const rest = await sessions.events.stream(session);
  expect(await sessions.threads.archive(thread, where)).toMatchObject({ id: thread, status: "terminated" });
  const after = await collectUntil(rest, endsTurn);
  expect(ofType(after, "user.tool_confirmation")).toMatchObject([{ result: "deny", session_thread_id: thread }]);
  expect(ofType(after, "agent.message").map(({ content }) => content)).toEqual([[{ type: "text", text: "Over." }]]);
  // The archived subagent gets no other call through.
  const results = stage.rehearsal.modelRequests.flatMap(({ toolResults }) => toolResults.slice(0, 1));
  expect(results.slice(0, 2)).toMatchObject([
    { isError: true, text: expect.stringContaining("archived the thread") },
    { isError: true, text: expect.stringContaining("archived the thread") },
  ]);
  expect((await sessions.threads.retrieve(thread, where)).status).toBe("terminated");
});

test("a running thread is not archived", async () => {
  stage.rehearsal.use([
    toolUse("Agent", { description: "d", prompt: "Ask me.", subagent_type: "reviewer", run_in_background: false }),
    stallMidStream(),
  ]);
  const { sessions } = stage.client.beta;
  const stream = await sessions.events.stream(session);
  await stage.say(session, "And once more.");
  const seen = await collectUntil(stream, ({ type }) => type === "session.thread_status_running");
  const thread = ofType(seen, "session.thread_created")[0]!.session_thread_id;
  await expect(sessions.threads.archive(thread, { session_id: session })).rejects.toThrow(/400.*interrupt/i);
  const rest = await sessions.events.stream(session);
  await sessions.events.send(session, { events: [{ type: "user.interrupt" }] });
  await collectUntil(rest, endsTurn);
});
