import type { LoggedEvent, Session } from "@tandem/protocol";
import { always, fail, slowly, text, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
let engine = await stage.open({ leaseTtl: 1_000 });
afterAll(() => stage[Symbol.asyncDispose]());

const MULTIAGENT = { type: "multiagent_20261001" as const };
const META = `export const meta = { name: "review", description: "Reviews parts", phases: [{ title: "Scan" }, { title: "Judge" }] };\n`;
const isPlanner = (request: ModelRequest) => request.toolNames.includes("Workflow");
const isLeaf = (name: string) => (request: ModelRequest) =>
  !isPlanner(request) && JSON.stringify(request.messages).includes(`LEAF-${name}`);
const plan = (body: string) => when(isPlanner, toolUse("Workflow", { script: META + body }));

/** A run whose only leaf does not come to an end. */
const ENDLESS = [
  plan(`phase("Scan"); return await agent("LEAF-SLOW", { label: "slow" });`),
  when(isLeaf("SLOW"), slowly(text("Too late."), { firstByteMs: 600_000 })),
  when(isPlanner, text("It runs.")),
  always(text("Back.")),
];

const isStarted = ({ event }: LoggedEvent): boolean => event.type === "workflow_run.phase_started";
const isEnded = ({ event }: LoggedEvent): boolean => event.type === "workflow_run.status_ended";
const newSession = (params = {}, agent = {}): Promise<Session> =>
  engine.session(params, { ...ALLOW_ALL, multiagent: MULTIAGENT, ...agent });
const ofType = (events: readonly LoggedEvent[], type: string) =>
  events.flatMap(({ event }) => (event.type === type ? [event] : []));

async function endless(params = {}): Promise<Session> {
  stage.rehearsal.use(ENDLESS);
  const session = await newSession(params);
  await engine.say(session, "Use a workflow.");
  await engine.until(session, isStarted);
  return session;
}

test("a run of three agents, one of which fails, is reported as events and threads; the session runs until it has ended", async () => {
  stage.rehearsal.use([
    plan(`phase("Scan");
const found = await parallel(["ONE", "TWO"].map((name) => () => agent("LEAF-" + name, { label: name })));
phase("Judge");
return { found, verdict: await agent("LEAF-JUDGE", { label: "judge" }) };`),
    when(isLeaf("ONE"), toolUse("Bash", { command: "echo one" })),
    when(isLeaf("ONE"), text("One is good.")),
    // Claude Code may try again.
    ...Array.from({ length: 5 }, () => when(isLeaf("TWO"), fail(400, { message: "no such thing" }))),
    when(isLeaf("JUDGE"), text("All is well.")),
    always(text("Noted.")),
  ]);
  // The agent's calls, and those of the run's agents, need approval.
  const session = await newSession({}, { tools: [{ type: "agent_toolset_20260401" }] });
  await engine.say(session, "Use a workflow.");
  const asking = await engine.until(session, ({ event }) => event.type === "session.status_idle");
  expect(the(asking, "session.status_idle").stop_reason.type).toBe("requires_action");
  const call = asking.find(({ event, thread }) => event.type === "agent.tool_use" && thread !== null)!;
  expect(call.event).toMatchObject({ name: "Bash", evaluated_permission: "ask" });

  // While a run is open.
  const open = { code: "invalid_request", detail: "workflow_run_open" };
  const { sessions } = engine.engine;
  await expect(sessions.archive(session.id)).rejects.toMatchObject(open);
  await expect(sessions.delete(session.id)).rejects.toMatchObject(open);
  await expect(sessions.archiveThread(session.id, call.thread!)).rejects.toMatchObject(open);
  await expect(sessions.update(session.id, { agent: { tools: [] } })).rejects.toMatchObject(open);

  await sessions.send(session.id, [{ type: "user.tool_confirmation", tool_use_id: call.event.id, result: "allow" }]);
  const ended = await engine.until(session, isEnded);
  await engine.until(session, isIdle, ended.at(-1)!.seq);
  const { events } = await sessions.events(session.id, { limit: 500 });
  const run = the(events, "workflow_run.created");
  expect(run).toMatchObject({
    name: "review",
    description: "Reviews parts",
    phases: [{ name: "Scan" }, { name: "Judge" }],
  });
  expect(the(events, "workflow_run.status_ended")).toMatchObject({ result: { type: "completed" } });
  expect(ofType(events, "workflow_run.phase_started").length).toBe(2);
  expect(ofType(events, "workflow_run.phase_ended").length).toBe(2);
  expect(typesOf(events).findLast((type) => type.startsWith("workflow_run."))).toBe("workflow_run.status_ended");
  const idle = ofType(events, "session.thread_status_idle").map((event) => "agent_name" in event && event.agent_name);
  expect(new Set(idle)).toEqual(new Set(["ONE", "TWO", "judge"]));
  expect(
    ofType(events, "session.thread_status_idle").find((event) => event["agent_name" as never] === "TWO"),
  ).toMatchObject({
    stop_reason: { type: "retries_exhausted" },
    tandem: { error: expect.stringContaining("no such thing") },
  });
  expect(
    ofType(events, "session.thread_status_idle").findLast((event) => event["agent_name" as never] === "ONE"),
  ).toMatchObject({ stop_reason: { type: "end_turn" }, tandem: { usd: expect.any(Number) } });
  const threads = (await sessions.threads(session.id)).filter(({ parent_thread_id: parent }) => parent !== null);
  expect(threads.map(({ workflow_run_id: id }) => id)).toEqual(Array(3).fill(run.workflow_run_id));
  expect(threads.map(({ agent }) => agent.type)).toEqual(Array(3).fill("inline"));
  expect(threads.find(({ agent }) => agent.name === "ONE")?.usage?.output_tokens).toBeGreaterThan(0);
  const own = events.filter(({ thread }) => thread === call.thread).map(({ event }) => event.type);
  expect(own.filter((type) => type.startsWith("agent."))).toEqual([
    "agent.thread_message_received",
    "agent.tool_use",
    "agent.tool_result",
    "agent.message",
  ]);
  // Three answers of the session's agent, two of ONE, one of the judge.
  expect(ofType(events, "span.model_request_end")).toHaveLength(6);
  await sessions.archive(session.id);
});

test("an interrupt stops the run, and leaves no process", async () => {
  const session = await endless();
  await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
  const events = await engine.until(session, isIdle);
  expect(the(events, "workflow_run.status_ended")).toMatchObject({ result: { type: "stopped" } });
  expect(the(events, "session.thread_status_idle")).toMatchObject({ agent_name: "slow" });
  expect((await engine.engine.sessions.threads(session.id)).map(({ status }) => status)).toEqual(["idle", "idle"]);
  expect(await stage.processes()).toEqual([]);
  expect(typesOf(await engine.turn(session, "Are you there?"))).toContain("agent.message");
});

test("a run ends with unknown_error when its Claude Code dies", async () => {
  const session = await endless();
  await stage.killProcesses();
  const events = await engine.until(session, isIdle);
  const error = { type: "unknown_error", message: expect.any(String) };
  expect(the(events, "workflow_run.error")).toMatchObject({ error });
  expect(the(events, "workflow_run.status_ended")).toMatchObject({ result: { type: "error", error } });
  expect(ofType(events, "workflow_run.phase_ended").length).toBe(1);
});

test("the next server ends the run of a server that was killed", async () => {
  const session = await endless();
  await engine.vanish();
  await stage.killProcesses();
  engine = await stage.open({ leaseTtl: 1_000 });
  const events = await engine.until(session, isIdle);
  expect(the(events, "workflow_run.status_ended")).toMatchObject({
    result: { type: "error", error: { type: "unknown_error" } },
  });
  expect((await engine.engine.sessions.threads(session.id)).map(({ status }) => status)).toEqual(["idle", "idle"]);
  await engine.engine.sessions.archive(session.id);
});

test("no agent of a run starts beyond the session's limit", async () => {
  stage.rehearsal.use([
    plan(
      `phase("Scan"); return await parallel([1, 2, 3, 4].map((n) => () => agent("LEAF-" + n, { label: "leaf " + n })));`,
    ),
    when(isPlanner, text("It runs.")),
    always(slowly(text("Too late."), { firstByteMs: 600_000 })),
  ]);
  // The first response of an agent is expected to cost $0.05, so only one of them fits at a time.
  const limits = JSON.stringify({ session: { usd: 0.09 } });
  const session = await newSession({ metadata: { "tandem.limits": limits } });
  const events = await engine.turn(session, "Use a workflow.");
  expect(the(events, "session.status_idle").stop_reason.type).toBe("budget_reached");
  expect(the(events, "workflow_run.status_ended")).toMatchObject({
    result: { type: "error", error: { type: "unknown_error" } },
  });
  expect(stage.rehearsal.modelRequests.filter((request) => !isPlanner(request)).length).toBeLessThan(2);
  expect(await stage.processes()).toEqual([]);
});

test("an agent without workflows is not offered the tool", async () => {
  stage.rehearsal.use([text("Hello."), text("Hello.")]);
  await engine.turn(await engine.session({}, ALLOW_ALL), "Hello.");
  await engine.turn(await newSession({}, { multiagent: { ...MULTIAGENT, workflows: { type: "disabled" } } }), "Hello.");
  expect(stage.rehearsal.modelRequests.flatMap(({ toolNames }) => toolNames)).not.toContain("Workflow");
});
