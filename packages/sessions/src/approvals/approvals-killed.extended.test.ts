import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LoggedEvent } from "@tandem/protocol";
import { reply, slowly, text, toolUse, when } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { allow, deny, isOver, pendingOf, untilAsked } from "../testing/until-asked.ts";
import { isIdle, setEngineStage, the, type RunningEngine } from "../testing/engine-stage.ts";

afterAll(() => stage[Symbol.asyncDispose]());

const touch = (name: string, id?: string) => toolUse("Bash", { command: `touch ${name}` }, id ? { id } : {});
const isThere = (name: string): boolean => existsSync(join(stage.folder, name));
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";
const open = (): Promise<RunningEngine> => stage.open({ leaseTtl: 1_000 });
const stage = await setEngineStage();
/** The engine that runs. A test that crashes it opens the next one. */
let engine = await open();
const resolutions = (events: readonly LoggedEvent[]) =>
  events.flatMap(({ event }) => (event.type === "tandem.approval_resolved" ? [event] : []));

const statesOf = (events: readonly LoggedEvent[], id: string): string[] =>
  events.flatMap(({ event }) => (event.type === "tandem.tool_state" && event.event_id === id ? [event.state] : []));

/** Engine and Claude Code end from one moment to the next. `meanwhile` runs before the next engine starts. */
async function crash(meanwhile?: () => void): Promise<void> {
  await engine.vanish();
  await Promise.all((await stage.processes()).map((pid) => kill(pid)));
  meanwhile?.();
  engine = await open();
}

async function kill(pid: number): Promise<void> {
  const signal = (name: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-pid, name);
    } catch {
      return false;
    }
  };
  signal("SIGKILL");
  await expect.poll(() => signal(0)).toBe(false);
}

describe("a call that waits for approval", () => {
  test("survives a killed server: the answer lets exactly that call run", async () => {
    stage.rehearsal.use([touch("killed.txt")]);
    // Another engine on the store could take the new session first.
    await engine.stop();
    const { process: server, session } = await stage.spawn({}, "Do it.");
    await stage.until(session, isIdle);
    server.kill("SIGKILL");
    // The orphaned Claude Code cannot ask any more, and may tell the model so before it exits.
    await Promise.all((await stage.processes()).map((pid) => kill(pid)));
    engine = await open();
    const [asked] = await pendingOf(engine, session);
    expect(asked).toMatchObject({ status: "pending", tool: "Bash" });
    stage.rehearsal.use([text("Finally.")]);
    await engine.engine.approvals.answer(asked!.id, allow, "Ada");
    const events = await engine.until(session, isOver);
    expect(resolutions(events)).toMatchObject([{ event_id: asked!.id, outcome: "allowed", by: "Ada", late: true }]);
    expect(isThere("killed.txt")).toBe(true);
  });

  test("two calls: answers before and after crashes count, an edited input too", async () => {
    stage.rehearsal.use([reply([touch("one.txt", "toolu_one"), touch("two.txt", "toolu_two")])]);
    const session = await engine.reuse();
    const asked = await untilAsked(engine, session, { count: 2 });
    const idOf = (name: string) => asked.find(({ input }) => input["command"] === `touch ${name}`)!.id;
    await crash();
    await engine.engine.approvals.answer(idOf("one.txt"), { ...deny, message: "Not this one." }, "Ada");
    await crash();
    // The call runs, and the server dies before the model answers.
    stage.rehearsal.use([slowly(text("Never said."), { firstByteMs: 30_000 })]);
    const head = await engine.engine.sessions.head(session.id);
    const edited = { ...allow, input: { command: "touch final.txt" } };
    await engine.engine.approvals.answer(idOf("two.txt"), edited, "Bob");
    await engine.until(session, ({ event }) => event.type === "span.model_request_start", head);
    await stage.rehearsal.waitForModelRequest();
    expect(lastRequest()).toContain("Not this one.");
    expect(lastRequest()).toContain("The user changed the input");
    await crash(() => stage.rehearsal.use([text("Never asked.")]));
    const events = await engine.until(session, isOver);
    expect(events.filter(({ event }) => event.type === "agent.tool_use")).toHaveLength(2);
    expect(resolutions(events).map(({ outcome, by }) => [outcome, by])).toEqual([
      ["denied", "Ada"],
      ["allowed", "Bob"],
    ]);
    expect([isThere("one.txt"), isThere("two.txt"), isThere("final.txt")]).toEqual([false, false, true]);
  });

  test("a subagent's request names the subagent; if the server or the child dies, its call did not run", async () => {
    const scout = await engine.engine.agents.create({
      name: "scout",
      model: "haiku",
      system: "You are the scout.",
      tools: [{ type: "agent_toolset_20260401" }],
    });
    const isScout = (request: { body: unknown }) => JSON.stringify(request.body).includes("You are the scout.");
    const script = () => [
      when(isScout, touch("scouted.txt")),
      toolUse("Agent", {
        description: "Look",
        prompt: "Look around.",
        subagent_type: "scout",
        run_in_background: false,
      }),
    ];
    stage.rehearsal.use(script());
    const session = await engine.session({}, { multiagent: { type: "coordinator", agents: [scout.id] } });
    const [asked] = await untilAsked(engine, session);
    expect(asked).toMatchObject({ agent_name: "scout", session_thread_id: expect.stringMatching(/^sthr_/) });
    await crash();
    stage.rehearsal.use([text("Done.")]);
    await engine.engine.approvals.answer(asked!.id, allow, "Ada");
    const events = await engine.until(session, isOver);
    expect(lastRequest()).toContain("A subagent of yours called Bash");
    expect(lastRequest()).toContain("It did not run.");
    expect(resolutions(events)).toMatchObject([{ outcome: "allowed", late: true }]);
    expect(statesOf(events, asked!.id)).toEqual(["waiting", "interrupted"]);

    stage.rehearsal.use(script());
    await engine.markRead(session);
    const [next] = await untilAsked(engine, session);
    for (const pid of await stage.processes()) await kill(pid);
    const ended = await engine.until(session, isOver);
    expect(statesOf(ended, next!.id)).toEqual(["waiting", "interrupted"]);
    const result = ended.find(({ event }) => event.type === "agent.tool_result" && event.tool_use_id === next!.id);
    expect(JSON.stringify(result?.event)).toContain("did not run");
    expect(await pendingOf(engine, session)).toEqual([]);
    expect(isThere("scouted.txt")).toBe(false);
  });
});

describe("a question", () => {
  const question = {
    questions: [
      {
        question: "Which colours?",
        header: "Colours",
        options: [
          { label: "Red", description: "Like a rose." },
          { label: "Blue", description: "Like the sea." },
        ],
        multiSelect: true,
      },
      {
        question: "Which name?",
        header: "Name",
        options: [
          { label: "Ada", description: "Short." },
          { label: "Augusta", description: "Long." },
        ],
        multiSelect: false,
      },
    ],
  };
  const ask = () => toolUse("AskUserQuestion", question);
  const answers = { "Which colours?": ["Red", "Blue"], "Which name?": "Grace, if I may" };

  test("arrives as a call for a client, and the answers reach the model", async () => {
    stage.rehearsal.use([ask(), text("Noted.")]);
    const session = await engine.reuse();
    const [asked] = await untilAsked(engine, session);
    expect(asked).toMatchObject({ kind: "question", tool: "ask_user_question", input: question });
    expect(stage.rehearsal.modelRequests[0]!.toolNames).toContain("AskUserQuestion");
    const send = (content: string) =>
      engine.engine.sessions.send(
        session.id,
        [
          {
            type: "user.custom_tool_result",
            custom_tool_use_id: asked!.id,
            content: [{ type: "text", text: content }],
          },
        ],
        "Ada",
      );
    await expect(send("Red")).rejects.toThrow(/2 questions.*JSON/);
    await expect(send('{"answers": {"Which colours?": "Red"}}')).rejects.toThrow(/"Which name\?" has no answer/);
    await expect(send('{"answers": {"Which colours?": "Red", "Which name?": ["Ada", "Augusta"]}}')).rejects.toThrow(
      /takes one answer/,
    );
    await expect(send('{"answers": {"Which colours?": "", "Which name?": "Ada"}}')).rejects.toThrow(/has no answer/);
    await expect(send('{"answers": {"Whose?": "Ada"}}')).rejects.toThrow(/no question "Whose\?"/);
    await send(JSON.stringify({ answers }));
    const events = await engine.until(session, isOver);
    expect(the(events, "agent.custom_tool_use")).toMatchObject({ name: "ask_user_question" });
    expect(resolutions(events)).toMatchObject([{ outcome: "allowed", by: "Ada" }]);
    expect(lastRequest()).toContain('\\"Which colours?\\"=\\"Red, Blue\\"');
    expect(lastRequest()).toContain("Grace, if I may");
  });

  test("survives a crash, and can also be answered through the approvals API", async () => {
    stage.rehearsal.use([ask()]);
    const session = await engine.reuse();
    const [asked] = await untilAsked(engine, session);
    await crash();
    stage.rehearsal.use([text("Noted.")]);
    await expect(engine.engine.approvals.answer(asked!.id, allow, "Ada")).rejects.toThrow(/answers/);
    await engine.engine.approvals.answer(asked!.id, { ...allow, input: { answers } }, "Ada");
    const events = await engine.until(session, isOver);
    expect(resolutions(events)).toMatchObject([{ outcome: "allowed", by: "Ada", late: true }]);
    expect(lastRequest()).toContain("Grace, if I may");
  });
});

describe("a plan", () => {
  const planFile = (request: { body: unknown }): string =>
    /[^"\\ ]*plans\/[a-z0-9-]+\.md/.exec(JSON.stringify(request.body))![0];
  const write = (request: { body: unknown }) =>
    toolUse("Write", { file_path: planFile(request), content: "# The plan\n\n1. Touch a file." });
  const isFirst = (request: { body: unknown }) => !JSON.stringify(request.body).includes("tool_result");
  const handIn = () => toolUse("ExitPlanMode", { allowedPrompts: [{ tool: "Bash", prompt: "touch files" }] });
  const QUESTIONS_OFF = { "tandem.questions": "off" };
  const planning = { metadata: { ...QUESTIONS_OFF, "tandem.permission_mode": "plan" } };

  test("is shown whole; denial continues planning, approval runs it in the chosen mode", async () => {
    stage.rehearsal.use([when(isFirst, write), handIn(), handIn(), touch("planned.txt"), text("Carried out.")]);
    const session = await engine.session(planning);
    const [asked] = await untilAsked(engine, session);
    expect(asked).toMatchObject({
      kind: "plan",
      tool: "ExitPlanMode",
      plan: "# The plan\n\n1. Touch a file.",
      input: { allowedPrompts: [{ tool: "Bash", prompt: "touch files" }] },
    });
    // Questions are off in this session.
    expect(stage.rehearsal.modelRequests[0]!.toolNames).not.toContain("AskUserQuestion");
    let head = await engine.engine.sessions.head(session.id);
    await engine.engine.approvals.answer(asked!.id, { ...deny, message: "Say which file." }, "Ada");
    await engine.until(session, ({ event }) => event.type === "session.status_idle", head);
    expect(lastRequest()).toContain("Say which file.");
    expect((await engine.engine.sessions.get(session.id)).metadata).toEqual(planning.metadata);
    const [again] = await pendingOf(engine, session);
    head = await engine.engine.sessions.head(session.id);
    await engine.engine.approvals.answer(again!.id, { ...allow, mode: "acceptEdits" }, "Ada");
    const events = await engine.until(session, ({ event }) => event.type === "session.status_idle", head);
    expect(the(events, "tandem.mode")).toMatchObject({ mode: "acceptEdits", by: "Ada" });
    expect((await engine.engine.sessions.get(session.id)).metadata).toEqual({
      ...QUESTIONS_OFF,
      "tandem.permission_mode": "acceptEdits",
    });
    expect(lastRequest()).toContain("User has approved your plan");
    // Edits are accepted now; a command still asks.
    const [command] = await pendingOf(engine, session);
    expect(command).toMatchObject({ tool: "Bash" });
    await engine.engine.approvals.answer(command!.id, allow, "Ada");
    await engine.until(session, isOver);
    expect(isThere("planned.txt")).toBe(true);
  });

  test("survives a crash: the agent continues with the approved plan", async () => {
    stage.rehearsal.use([when(isFirst, write), handIn()]);
    const session = await engine.session(planning);
    const [asked] = await untilAsked(engine, session);
    await crash();
    stage.rehearsal.use([text("I begin.")]);
    await engine.engine.approvals.answer(asked!.id, { ...allow, mode: "default" }, "Ada");
    const events = await engine.until(session, isOver);
    expect(resolutions(events)).toMatchObject([{ outcome: "allowed", mode: "default", late: true }]);
    expect(lastRequest()).toContain("The user has approved your plan");
    expect((await engine.engine.sessions.get(session.id)).metadata).toEqual({
      ...QUESTIONS_OFF,
      "tandem.permission_mode": "default",
    });
  });
});
