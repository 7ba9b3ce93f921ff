import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AnswerCallsOptions, answerCalls, createClient } from "@tandem/client";
import { type Approval, SESSION_METADATA } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const client = () => createClient({ baseUrl: stage.server.url, token: stage.server.secret });
const allowAll = { default_config: { permission_policy: { type: "always_allow" as const } } };

const hooked = (deadline = "10m", agent = {}) =>
  stage.session(
    { metadata: { [SESSION_METADATA.policyHook]: deadline } },
    { tools: [{ type: "agent_toolset_20260401", ...allowAll }], ...agent },
  );

/** Answers until the test ends. Returns the calls that it was asked about. */
function answering(decide: AnswerCallsOptions["decide"], session?: string): Approval[] {
  const asked: Approval[] = [];
  const controller = new AbortController();
  const done = answerCalls(client(), {
    ...(session !== undefined && { session }),
    signal: controller.signal,
    decide: async (call) => {
      asked.push(call);
      return decide(call);
    },
  });
  onTestFinished(async () => {
    controller.abort();
    await done;
  });
  return asked;
}

/** The end of the turn, past the stops at which it waits for the client. */
async function turn(session: string, message: string) {
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, message);
  return collectUntil(stream, endsTurn);
}

const results = async (session: string) =>
  JSON.stringify((await stage.client.beta.sessions.events.list(session, { types: ["agent.tool_result"] })).data);

test("a client allows, edits and denies calls that the session itself would allow", async () => {
  stage.rehearsal.use([
    toolUse("Bash", { command: "echo allowed-one" }),
    toolUse("Bash", { command: "echo before-edit" }),
    toolUse("Bash", { command: "echo forbidden > forbidden.txt" }),
    text("Done."),
  ]);
  const session = await hooked();
  const asked = answering(async ({ input }) => {
    const command = String(input["command"]);
    if (command.includes("before-edit")) return { result: "allow", input: { ...input, command: "echo after-edit" } };
    return command.includes("forbidden") ? { result: "deny", message: "Not today." } : { result: "allow" };
  }, session);
  await turn(session, "Go.");
  expect(asked.map(({ input }) => input["command"])).toEqual([
    "echo allowed-one",
    "echo before-edit",
    "echo forbidden > forbidden.txt",
  ]);
  expect(asked[0]).toMatchObject({ session_id: session, tool: "Bash", verdict: { by: "hook" } });
  const said = await results(session);
  expect(said).toContain("allowed-one");
  expect(said).toContain("after-edit");
  expect(said).toContain("Not today.");
  await expect(readFile(join(stage.folder, "forbidden.txt"))).rejects.toThrow("ENOENT");
  // Both inputs are in the audit.
  const audit = JSON.stringify(await client().call("audit.list", { query: { session_id: session, limit: 100 } }));
  expect(audit).toContain("before-edit");
  expect(audit).toContain("after-edit");
});

test("an edited input that a rule denies does not run, and a denied call is not asked about", async () => {
  await client().call("rules.create", { body: { tool: "Bash", pattern: "rm *", action: "deny", scope: "user" } });
  stage.rehearsal.use([
    toolUse("Bash", { command: "echo fine" }),
    toolUse("Bash", { command: "rm -f nothing" }),
    text("Done."),
  ]);
  const session = await hooked();
  const asked = answering(
    async ({ input }) => ({ result: "allow", input: { ...input, command: "rm -rf x" } }),
    session,
  );
  await turn(session, "Go.");
  expect(asked.map(({ input }) => input["command"])).toEqual(["echo fine"]);
  const said = await results(session);
  expect(said).not.toContain("fine");
});

test("a call without an answer is denied at the deadline, also if the client has gone while it decided", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "echo unanswered > unanswered.txt" }), text("Denied, then.")]);
  // The client must hear of the call before.
  const session = await hooked(`${4 * inject("slowness")}s`);
  const controller = new AbortController();
  const done = answerCalls(client(), {
    session,
    signal: controller.signal,
    decide: () => {
      controller.abort();
      return new Promise(() => undefined);
    },
  });
  await turn(session, "Go.");
  await done;
  expect(await results(session)).toContain("No one answered");
  await expect(readFile(join(stage.folder, "unanswered.txt"))).rejects.toThrow("ENOENT");
});

test("calls of subagents are asked about, and a client of all sessions sees them", async () => {
  stage.rehearsal.use([
    toolUse("Agent", { description: "d", prompt: "Look.", subagent_type: "reviewer", run_in_background: false }),
    toolUse("Bash", { command: "echo from-the-subagent" }),
    text("Looked."),
    text("The reviewer is content."),
  ]);
  const tools = [{ type: "agent_toolset_20260401" as const, ...allowAll }];
  const reviewer = await stage.agent({ name: "reviewer", description: "Reviews.", tools });
  const session = await hooked("10m", { multiagent: { type: "coordinator", agents: [reviewer] } });
  const asked = answering(async () => ({ result: "allow" }));
  await turn(session, "Have it reviewed.");
  const inner = asked.find(({ tool }) => tool === "Bash");
  expect(inner).toMatchObject({ session_id: session, agent_name: "reviewer" });
  expect(inner!.session_thread_id).not.toBeNull();
});

test("a deadline that is no duration is refused", async () => {
  await expect(hooked("soon")).rejects.toThrow("tandem.policy_hook");
});
