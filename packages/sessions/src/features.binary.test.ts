import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, type LoggedEvent, type Session, type SessionId } from "@tandem/protocol";
import { always, overloaded, reply, slowly, text, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import { afterAll, describe, expect, inject, test } from "vitest";
import { isIdle, setEngineStage, the, typesOf } from "./testing/engine-stage.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const toolset = (policy: "always_allow" | "always_ask") => ({
  type: "agent_toolset_20260401" as const,
  default_config: { permission_policy: { type: policy } },
});
const allowAll = { tools: [toolset("always_allow")] };
const said = (events: readonly LoggedEvent[]): string =>
  events
    .flatMap(({ thread, event }) =>
      thread === null && event.type === "agent.message" ? event.content.map((block) => block.text) : [],
    )
    .join("");

describe("subagents", () => {
  const isFor = (request: ModelRequest) => request.system.includes("SUBAGENT-SCOUT");
  const isMain = (request: ModelRequest) => !isFor(request);
  const delegate = (extra: object = {}) =>
    toolUse("Agent", {
      description: "Look around",
      prompt: "Look.",
      subagent_type: "scout",
      run_in_background: false,
      ...extra,
    });

  async function coordinator(policy: "always_allow" | "always_ask" = "always_allow"): Promise<Session> {
    const scout = await engine.engine.agents.create({
      name: "scout",
      model: "haiku",
      system: "SUBAGENT-SCOUT",
      tools: [toolset(policy)],
    });
    return engine.session({}, { ...allowAll, multiagent: { type: "coordinator", agents: [scout.id] } });
  }

  test("run on their own threads with their own usage; messages appear on both threads", async () => {
    stage.rehearsal.use([
      when(isMain, reply([text("I send a scout."), delegate()])),
      when(isFor, reply([text("I look."), toolUse("Bash", { command: "echo seen" })])),
      when(isFor, text("There is a river.")),
      text("A river, it says."),
    ]);
    const session = await coordinator();
    const events = await engine.turn(session, "Explore.");
    expect(said(events)).toBe("I send a scout.A river, it says.");
    const thread = the(events, "session.thread_created").session_thread_id;
    const own = (await engine.engine.sessions.events(session.id, { limit: 100, thread })).events;
    expect(typesOf(own)).toEqual(
      expect.arrayContaining([
        "agent.thread_message_received",
        "agent.message",
        "agent.tool_use",
        "agent.tool_result",
        "agent.thread_message_sent",
      ]),
    );
    const primary = (await engine.engine.sessions.events(session.id, { limit: 100, thread: null })).events;
    expect(typesOf(primary)).toEqual(
      expect.arrayContaining(["agent.thread_message_sent", "agent.thread_message_received"]),
    );
    expect(primary.some(({ event }) => event.type === "agent.tool_use" && event.name === "Bash")).toBe(false);
    const threads = await engine.engine.sessions.threads(session.id);
    expect(threads).toMatchObject([
      { parent_thread_id: null, status: "idle", agent: { name: "tester" } },
      { id: thread, parent_thread_id: threads[0]!.id, status: "idle", agent: { name: "scout", type: "agent" } },
    ]);
    expect(threads[1]!.usage?.output_tokens).toBeGreaterThan(0);
    expect(threads[0]!.usage!.output_tokens).toBeGreaterThan(threads[1]!.usage!.output_tokens);
  });

  test("ask for approval on the session's stream, under their own policy", async () => {
    stage.rehearsal.use([
      when(isMain, delegate()),
      when(isFor, toolUse("Bash", { command: "echo asked" })),
      when(isFor, text("Done.")),
      text("The scout is back."),
    ]);
    const session = await coordinator("always_ask");
    await engine.say(session, "Explore.");
    const events = await engine.until(session, isIdle);
    const stop = the(events.slice(-1), "session.status_idle").stop_reason;
    if (stop.type !== "requires_action") throw new Error("It did not ask.");
    const use = events.find(({ event }) => event.id === stop.event_ids[0])!;
    expect(use).toMatchObject({ event: { name: "Bash", evaluated_permission: "ask", session_thread_id: use.thread } });
    expect((await engine.engine.sessions.events(session.id, { limit: 100, thread: null })).events).toContainEqual(use);
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.tool_confirmation", tool_use_id: use.event.id, result: "allow" },
    ]);
    expect(said(await engine.until(session, isIdle, head))).toBe("The scout is back.");
  });
});

describe("background tasks", () => {
  test("keep the session running, are listed, can be stopped, and do not keep the model from the next message", async () => {
    stage.rehearsal.use([
      toolUse("Bash", { command: "tail -F waiting.txt", run_in_background: true }),
      text("It runs."),
      text("I am here."),
      always(text("It was stopped.")),
    ]);
    const session = await engine.session({}, allowAll);
    await engine.say(session, "Watch the file.");
    await engine.until(session, ({ event }) => event.type === "session.usage");
    await expect.poll(() => engine.engine.sessions.tasks(session.id)).toMatchObject([{ kind: "shell" }]);
    expect(await engine.engine.sessions.get(session.id)).toMatchObject({ status: "running" });
    const head = await engine.engine.sessions.head(session.id);
    await engine.say(session, "And you?");
    const events = await engine.until(session, ({ event }) => event.type === "agent.message", head);
    expect(said(events)).toBe("I am here.");
    const [task] = await engine.engine.sessions.tasks(session.id);
    await engine.engine.sessions.stopTask(session.id, task!.id);
    await engine.until(session, isIdle);
    expect(await engine.engine.sessions.tasks(session.id)).toEqual([]);
    // Claude Code may tell the model that the task has ended: that request must not take a reply of another test.
    await engine.engine.sessions.archive(session.id);
  });
});

test("a credential in a tool's output does not get into the log", async () => {
  stage.rehearsal.use([
    toolUse("Bash", { command: String.raw`printf 'key:\nsk-ant-made-up-key\ntoken:\ttandem_0123456789abcdefghij\n'` }),
    text("The key is sk-ant-made-up-key."),
  ]);
  const session = await engine.reuse(allowAll);
  const previews: string[] = [];
  const stop = engine.engine.sessions.onDelta(session.id as SessionId, {
    after: await engine.engine.sessions.head(session.id),
    hear: (deltas) =>
      previews.push(...deltas.flatMap(({ delta }) => (delta.type === "event_delta" ? [delta.delta.content.text] : []))),
  });
  const events = await engine.turn(session, "Print it with sk-ant-made-up-key.");
  stop();
  const printed = JSON.stringify(the(events, "agent.tool_result").content);
  expect(printed).toContain(String.raw`key:\n[redacted]\ntoken:\t[redacted]`);
  // In a sandbox, the gateway of the API removes it first.
  expect(previews.join("")).toMatch(/^The key is (\[redacted\]|\*+)\.$/);
  const shell = await engine.engine.sessions.shell(
    session.id,
    "printf 'A\\nsk-ant-made-up-key\\nB'",
    "ann",
    AbortSignal.timeout(60_000 * inject("slowness")),
  );
  expect(shell.output).toBe("A\n[redacted]\nB");
  const served = await engine.engine.sessions.events(session.id, { limit: 1_000 });
  expect(JSON.stringify([previews, shell, served])).not.toContain("sk-ant-made-up-key");
  // The model still gets what the user wrote and the command printed.
  expect(JSON.stringify(stage.rehearsal.requests.at(-1))).toContain("sk-ant-made-up-key");
});

test("API retries are logged, and the turn continues", async () => {
  stage.rehearsal.use([overloaded(), text("Now it works.")]);
  const session = await engine.reuse(allowAll);
  const events = await engine.turn(session, "Hello?");
  expect(the(events, "session.error").error).toMatchObject({
    type: "model_overloaded_error",
    retry_status: { type: "retrying" },
  });
  expect(typesOf(events)).toEqual(expect.arrayContaining(["tandem.retry", "session.status_rescheduled"]));
  expect(said(events)).toBe("Now it works.");
  expect(await engine.engine.sessions.get(session.id)).toMatchObject({ status: "idle" });
});

describe("environments", () => {
  const git = (folder: string, ...args: string[]) =>
    execFileSync(
      "git",
      ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", ...args],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: stage.root, GIT_CONFIG_NOSYSTEM: "1" },
      },
    );

  test("a worktree belongs to the session and is removed with it, never with unsaved work", async () => {
    const repository = join(stage.folder, "repository");
    await mkdir(repository);
    git(repository, "init", "-q", "-b", "main");
    await writeFile(join(repository, "readme.md"), "hello");
    git(repository, "add", ".");
    git(repository, "commit", "-qm", "first");
    const environment = await engine.engine.environments.create({
      name: "worktrees",
      metadata: { "tandem.path": repository, "tandem.isolation": "worktree" },
    });
    stage.rehearsal.use([toolUse("Bash", { command: "pwd && cat readme.md" }), text("Seen.")]);
    const session = await engine.session({ environment_id: environment.id }, allowAll);
    const events = await engine.turn(session, "Where are you?");
    const { folder } = the(events, "tandem.init");
    expect(folder).not.toBe(repository);
    expect(JSON.stringify(the(events, "agent.tool_result"))).toContain("hello");
    await writeFile(join(folder, "new.txt"), "unsaved");
    await expect(engine.engine.sessions.delete(session.id)).rejects.toMatchObject({ code: "conflict" });
    git(folder, "clean", "-fdq");
    await engine.engine.sessions.delete(session.id);
    expect(existsSync(folder)).toBe(false);
    expect(git(repository, "status", "--porcelain").toString()).toBe("");
  });

  test("a creation that a crash has interrupted is repeated with the same id", async () => {
    const environment = await engine.engine.environments.create({ name: "again", config: { type: "cloud" } });
    const params = { agent: (await engine.session()).agent.id, environment_id: environment.id };
    const id = newId("session");
    await mkdir(join(stage.root, "state/scratch", id), { recursive: true });
    await expect(engine.engine.sessions.create(params, "ann", id)).rejects.toThrow("is there already");
    expect(await engine.engine.sessions.createAgain(params, "ann", id)).toMatchObject({ id });
    expect(await engine.engine.sessions.createAgain(params, "ann", id)).toMatchObject({ id });
  });

  test("an environment without a folder is a private scratch folder with the given files", async () => {
    const environment = await engine.engine.environments.create({ name: "scratch", config: { type: "cloud" } });
    const file = await engine.engine.files.upload({
      filename: "data.csv",
      mimeType: "text/csv",
      content: new TextEncoder().encode("a,b\n1,2\n"),
    });
    stage.rehearsal.use([toolUse("Read", { file_path: "data.csv" }), text("Read.")]);
    const session = await engine.session({
      environment_id: environment.id,
      resources: [{ type: "file", file_id: file.id, mount_path: "in/data.csv" }],
    });
    const place = join(stage.root, "state/scratch", session.id, "in/data.csv");
    expect(await readFile(place, "utf8")).toBe("a,b\n1,2\n");
    expect(await engine.engine.sessions.folder.read(session.id, "in/data.csv")).toMatchObject({ text: "a,b\n1,2\n" });
    await engine.engine.sessions.delete(session.id);
    expect(existsSync(place)).toBe(false);
  });

  test("a file is never written outside the session's folder or over another file", async () => {
    const file = await engine.engine.files.upload({
      filename: "x",
      mimeType: "text/plain",
      content: new Uint8Array([1]),
    });
    const create = (mount: string) =>
      engine.session({ resources: [{ type: "file", file_id: file.id, mount_path: mount }] });
    await expect(create("../outside.txt")).rejects.toMatchObject({ code: "forbidden" });
    // An absolute path is one of the session's own uploads.
    const { resources } = await create("/etc/outside.txt");
    expect(resources).toMatchObject([
      { mount_path: "/etc/outside.txt", tandem: { path: expect.stringMatching(/^\.mnt\//) } },
    ]);
    for (const deciding of [".claude/settings.json", "a/../.mcp.json", "TANDEM.yaml", ".g\u200cit/hooks/pre-commit"]) {
      await expect(create(deciding)).rejects.toMatchObject({ code: "forbidden" });
    }
    await writeFile(join(stage.folder, "taken.txt"), "mine");
    await expect(create("taken.txt")).rejects.toMatchObject({ code: "conflict" });
    expect(await readFile(join(stage.folder, "taken.txt"), "utf8")).toBe("mine");
  });
});

test("an archived session takes nothing any more and can be read; a deleted one is gone, and its followers are told", async () => {
  stage.rehearsal.use([slowly(text("Still talking."), { firstByteMs: 20_000 })]);
  const session = await engine.session();
  await engine.say(session, "Talk.");
  const started = await engine.until(session, ({ event }) => event.type === "span.model_request_start");
  const conversation = the(started, "tandem.init").claude_session_id;
  expect(await engine.engine.sessions.archive(session.id)).toMatchObject({ status: "terminated" });
  await expect(engine.say(session, "More.")).rejects.toThrow(/archived/);
  const { events } = await engine.engine.sessions.events(session.id, { limit: 100 });
  expect(typesOf(events).at(-1)).toBe("session.status_terminated");
  const kept = async () =>
    (await readdir(join(stage.root, "state"), { recursive: true })).filter((name) => name.includes(conversation));
  expect(await kept()).not.toEqual([]);
  const head = await engine.engine.sessions.head(session.id);
  const told = engine.until(session, ({ event }) => event.type === "session.deleted", head);
  await engine.engine.sessions.delete(session.id);
  await told;
  await expect(engine.engine.sessions.get(session.id)).rejects.toMatchObject({ code: "not_found" });
  expect(await kept()).toEqual([]);
});
