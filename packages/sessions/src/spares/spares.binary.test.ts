import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, SESSION_METADATA, type LoggedEvent, type Session, type SessionId } from "@tandem/protocol";
import { always, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { isIdle, setEngineStage, textsOf, the, type RunningEngine } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
const running = await stage.open({
  sandbox: { mode: "auto" },
  spareProcesses: { count: 1, keepMs: 3_600_000 },
  checkpoints: { maxFiles: 1_000, maxFileBytes: 1024 ** 2, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 },
});
const { id: agent } = await running.engine.agents.create({
  name: "tester",
  model: "sonnet",
  tools: [
    { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } },
    { type: "custom", name: "ask_client", description: "Asks.", input_schema: { type: "object", properties: {} } },
  ],
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.rehearsal.use([always(text("fine"))]));

const create = (more: Partial<Parameters<RunningEngine["session"]>[0]> = {}): Promise<Session> =>
  running.engine.sessions.create({ agent, environment_id: "env_local", ...more });

/** The pid of the one process without a session, after a session like it has run. */
async function spare(): Promise<number> {
  if ((await stage.processes()).length === 0) {
    const session = await create();
    await running.turn(session, "Begin.");
    await running.engine.sessions.archive(session.id);
  }
  await expect.poll(() => stage.processes()).toHaveLength(1);
  return (await stage.processes())[0]!;
}

const requests = (): string => JSON.stringify(stage.rehearsal.modelRequests.map(({ body }) => body));
const isAsked = ({ event }: LoggedEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";
const isDone = (logged: LoggedEvent): boolean => isIdle(logged) && !isAsked(logged);
/** The processes that end with the session. */
const pidsOf = async (session: Session): Promise<number[]> => {
  const all = await stage.processes();
  await running.engine.sessions.archive(session.id);
  const left = await stage.processes();
  return all.filter((pid) => !left.includes(pid));
};

describe("a session on a process that was started ahead", () => {
  test("gets that process, and everything works as on another: approval, custom tool, next message, checkpoints", async () => {
    const pid = await spare();
    const file = join(stage.folder, "approved.txt");
    stage.rehearsal.use([
      toolUse("Write", { file_path: file, content: "x" }),
      text("Written."),
      toolUse("mcp__tandem__ask_client", {}),
      text("Asked."),
    ]);
    const session = await create({ metadata: { note: "mine" } });
    await running.say(session, "Write it.");
    const asked = await running.until(session, isAsked);
    const use = the(asked, "agent.tool_use");
    expect(existsSync(file)).toBe(false);
    const before = asked.find(({ event }) => event.type === "tandem.checkpoint");
    const head = await running.engine.sessions.head(session.id);
    await running.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: use.id, result: "allow" },
    ]);
    const rest = await running.until(session, isDone, head);
    expect(textsOf(rest)).toEqual(["Written."]);
    expect(existsSync(file)).toBe(true);
    const first = before ?? rest.find(({ event }) => event.type === "tandem.checkpoint");
    const result = rest.find(({ event }) => event.type === "agent.tool_result")!;
    expect(first!.seq, "the checkpoint precedes the first change").toBeLessThan(result.seq);
    const again = await running.engine.sessions.head(session.id);
    await running.say(session, "Ask the client.");
    const waits = await running.until(session, isAsked, again);
    await running.engine.sessions.send(session.id, [
      {
        type: "user.custom_tool_result",
        custom_tool_use_id: the(waits, "agent.custom_tool_use").id,
        content: [{ type: "text", text: "client-says-yes" }],
      },
    ]);
    const last = await running.until(session, isDone, waits.at(-1)!.seq);
    expect(textsOf(last)).toEqual(["Asked."]);
    expect(requests()).toContain("client-says-yes");
    expect(await pidsOf(session)).toEqual([pid]);
  });

  test("interrupts its first turn", async () => {
    const pid = await spare();
    const { promise: never } = Promise.withResolvers<never>();
    stage.rehearsal.use([always(() => never)]);
    const session = await create();
    await running.say(session, "Think.");
    await running.until(session, ({ event }) => event.type === "span.model_request_start");
    await running.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await running.until(session, isIdle);
    stage.rehearsal.use([always(text("fine"))]);
    expect(textsOf((await running.turn(session, "Again.")).slice(-8))).toEqual(["fine"]);
    expect(await pidsOf(session)).toEqual([pid]);
  });
});

describe("two sessions in one folder share nothing", () => {
  test("neither words, ids and tasks, nor rules and transcripts", async () => {
    const pid = await spare();
    stage.rehearsal.use([
      toolUse("TaskCreate", { subject: "buy-milk", description: "at the corner", activeForm: "buying" }),
      always(text("noted-in-first")),
    ]);
    const first = await create();
    const begun = await running.turn(first, "remember-violet");
    const { claude_session_id: firstId } = the(begun, "tandem.init");
    await running.engine.rules.add(
      { tool: "Bash", pattern: "echo *", action: "allow" },
      { scope: "session", of: first.id, by: "test" },
    );
    expect(await pidsOf(first)).toEqual([pid]);
    const next = await spare();
    expect(next).not.toBe(pid);
    stage.rehearsal.use([toolUse("Bash", { command: "echo $TMPDIR; ls ~" }), always(text("fine"))]);
    const second = await create();
    await running.say(second, "What do you know?");
    const asked = await running.until(second, isAsked);
    expect(the(asked, "agent.tool_use").evaluated_permission, "the first session's rule does not count").toBe("ask");
    expect(the(asked, "tandem.init").claude_session_id).not.toBe(firstId);
    const transcript = JSON.stringify(await running.store.transcripts.load(second.id as SessionId, ""));
    expect(transcript).toContain("What do you know?");
    for (const word of ["violet", "buy-milk", "noted-in-first", first.id, firstId]) {
      expect(requests(), word).not.toContain(word);
      expect(transcript, word).not.toContain(word);
    }
    expect(await pidsOf(second)).toEqual([next]);
  });
});

describe("a process that does not fit any more is not used", () => {
  test("after CLAUDE.md of the folder has changed", async () => {
    const pid = await spare();
    await writeFile(join(stage.folder, "CLAUDE.md"), "Always answer in rhyme-of-today.\n");
    const session = await create();
    await running.turn(session, "Hello.");
    expect(requests()).toContain("rhyme-of-today");
    expect(await stage.processes()).not.toContain(pid);
    await rm(join(stage.folder, "CLAUDE.md"));
    await running.engine.sessions.archive(session.id);
    await running.engine.killSwitch.stop("test", null);
    await running.engine.killSwitch.resume("test");
    expect(await stage.processes(), "an emergency stop ends it too").toEqual([]);
  });

  test("for another model", async () => {
    await spare();
    const session = await create({ metadata: { [SESSION_METADATA.model]: "haiku" } });
    const events = await running.turn(session, "Hello.");
    expect(the(events, "tandem.init").model).toBe("claude-haiku-5-5");
    await running.engine.sessions.archive(session.id);
    await running.engine.killSwitch.stop("test", null);
    await running.engine.killSwitch.resume("test");
  });

  test("after it has died", async () => {
    const pid = await spare();
    process.kill(pid, "SIGKILL");
    const session = await create();
    expect(textsOf(await running.turn(session, "Hello."))).toEqual(["fine"]);
    expect(await pidsOf(session)).not.toContain(pid);
  });
});

test("a scratch folder is prepared with its process, and removed with it", async () => {
  await running.engine.killSwitch.stop("test", null);
  await running.engine.killSwitch.resume("test");
  const environment = await running.engine.environments.create({ name: "scratch" });
  const first = await create({ environment_id: environment.id });
  await running.turn(first, "Begin.");
  await running.engine.sessions.archive(first.id);
  await expect.poll(() => stage.processes()).toHaveLength(1);
  const [pid] = await stage.processes();
  const second = await create({ environment_id: environment.id });
  await running.turn(second, "Hello.");
  expect(await pidsOf(second)).toEqual([pid]);
  await running.engine.killSwitch.stop("test", null);
  await running.engine.killSwitch.resume("test");
  expect((await readdir(join(stage.root, "state", "scratch"))).sort()).toEqual([first.id, second.id].sort());
});

test("the folders that a dead server left are removed, unless their session exists", async () => {
  const [left, kept] = [newId("session"), await create()];
  const marks = join(stage.root, "state", "spares");
  const folder = (id: string): string => join(stage.root, "state", "sandboxes", id);
  for (const id of [left, kept.id]) {
    await mkdir(join(folder(id), "home"), { recursive: true });
    await mkdir(marks, { recursive: true });
    await writeFile(join(marks, `${id}.${2 ** 22 + 1}.1`), "");
  }
  await stage.open({ spareProcesses: { count: 1, keepMs: 1_000 } });
  expect(existsSync(folder(left))).toBe(false);
  expect(existsSync(folder(kept.id))).toBe(true);
  expect((await readdir(marks)).filter((name) => name.startsWith(left) || name.startsWith(kept.id))).toEqual([]);
});
