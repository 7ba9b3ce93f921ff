import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Session } from "@tandem/protocol";
import { always, text } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { readFolderConfig } from "@tandem/workspace";
import { afterAll, beforeEach, expect, inject, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the } from "../testing/engine-stage.ts";

let isTrusted = false;
/** Changes files of the folder around each check of it. */
let onCheck: (when: "before" | "after") => Promise<void> = async () => {};

const stage = await setEngineStage([always(text("done"))]);
const commands = join(stage.folder, ".claude", "commands");
await mkdir(join(commands, "git"), { recursive: true });
const user = join(stage.root, "user", "commands");
await mkdir(user, { recursive: true });
await writeFile(
  join(commands, "issue.md"),
  "---\ndescription: Fix an issue\nargument-hint: [number]\n---\nFix issue $1. See @notes.md\n",
);
await writeFile(
  join(commands, "git", "log.md"),
  '---\nmodel: haiku\n---\nWhat is new?\n!`echo seen: "$1" > ran.txt; cat ran.txt`',
);
await writeFile(join(commands, "shadow.md"), "The folder's words.");
await writeFile(join(user, "shadow.md"), "The user's own words.");
await writeFile(join(stage.folder, "notes.md"), "Mind the gap.");
const agent = "---\ndescription: Reads closely\ntools: Read\n---\nYou review.";
await mkdir(join(stage.folder, ".claude", "agents"));
await writeFile(join(stage.folder, ".claude", "agents", "second-reader.md"), agent);
await mkdir(join(stage.root, "user", "agents"));
await writeFile(join(stage.root, "user", "agents", "copyist.md"), agent);
const running = await stage.open({
  userFolders: [join(stage.root, "user")],
  trustOf: async (folder) => {
    await onCheck("before");
    const config = await readFolderConfig(folder);
    await onCheck("after");
    return { trusted: isTrusted, state: "untrusted", folder, since: null, config };
  },
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => {
  isTrusted = false;
  onCheck = async () => {};
});

async function type(session: Session, words: string) {
  const after = await running.engine.sessions.head(session.id);
  await running.engine.sessions.send(session.id, [
    { type: "user.message", content: [{ type: "text", text: words }], tandem: { commands: true } },
  ]);
  return running.until(session, isIdle, after);
}

const inTime = (): AbortSignal => AbortSignal.timeout(60_000 * inject("slowness"));

const lastBody = () => stage.rehearsal.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] };
/** Messages to the model since its last answer. */
const asked = (): string => {
  const { messages } = lastBody();
  return JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1));
};

test("a folder's command is expanded for the model, and the log says so", async () => {
  const session = await running.reuse();
  const events = await type(session, "/issue 12");
  expect(the(events, "tandem.command")).toMatchObject({ name: "issue", arguments: "12" });
  expect(asked()).toContain("Fix issue 12.");
  expect(asked()).toContain("Mind the gap.");
});

test("an application's text is never expanded", async () => {
  const session = await running.reuse();
  await running.turn(session, "/issue 12 @notes.md");
  expect(asked()).toContain("/issue 12 @notes.md");
  expect(asked()).not.toContain("Mind the gap.");
});

test("files that a person names are read, inside the folder only", async () => {
  const session = await running.reuse();
  await type(session, "Read @notes.md and @../user/commands/shadow.md");
  expect(asked()).toContain("Mind the gap.");
  expect(asked()).not.toContain("The user's own words");
});

test("an untrusted folder's shell insertions are not run, and no model request is made", async () => {
  const session = await running.reuse();
  const before = stage.rehearsal.requests.length;
  const events = await type(session, "/git:log x");
  expect(the(events, "session.error").error.message).toContain("the folder is not trusted");
  expect(existsSync(join(stage.folder, "ran.txt"))).toBe(false);
  expect(stage.rehearsal.requests.length).toBe(before);
});

test("a trusted folder's insertions run, with arguments as data", async () => {
  isTrusted = true;
  const session = await running.reuse();
  await type(session, "/git:log '$(touch hacked)`touch hacked`'");
  expect(await readFile(join(stage.folder, "ran.txt"), "utf8")).toBe("seen: $(touch hacked)`touch hacked`\n");
  expect(existsSync(join(stage.folder, "hacked"))).toBe(false);
  expect(asked()).toContain("seen: $(touch hacked)");
  expect(JSON.stringify(lastBody())).toContain("claude-haiku");
});

test("an untrusted folder does not replace the user's commands", async () => {
  const session = await running.reuse();
  await type(session, "/shadow");
  expect(asked()).toContain("The user's own words.");
  isTrusted = true;
  await type(session, "/shadow");
  expect(asked()).toContain("The folder's words.");
});

test("an unknown command is refused when it is sent, with a suggestion", async () => {
  const session = await running.reuse();
  const send = (words: string) =>
    running.engine.sessions.send(session.id, [
      { type: "user.message", content: [{ type: "text", text: words }], tandem: { commands: true } },
    ]);
  await expect(send("/isue 1")).rejects.toMatchObject({ code: "invalid_request", fix: "Did you mean /issue?" });
  await expect(send("/clear")).rejects.toThrow("A session has no /clear.");
  await expect(send("/nothing")).rejects.toThrow("There is no command /nothing.");
});

test.each(["/tmp is full", "/data\nis full", "/tmp"])("text that begins with a path is text: %j", async (words) => {
  const events = await type(await running.reuse(), words);
  expect(asked()).toContain(JSON.stringify(words).slice(1, -1));
  expect(events.map(({ event }) => event.type)).not.toContain("tandem.command");
});

test("Claude Code's own commands are forwarded, and their output is shown", async () => {
  const session = await running.reuse();
  const events = await type(session, "/context");
  const notices = events.flatMap(({ event }) => (event.type === "tandem.notice" ? [event.text] : []));
  expect(notices).toContainEqual(expect.stringContaining("Context Usage"));
});

test("a person's shell command runs in the folder, and the model is told once", async () => {
  const session = await running.reuse();
  const done = await running.engine.sessions.shell(session.id, "pwd; exit 3", "Ada", inTime());
  expect(done).toMatchObject({ exit_code: 3, by: "Ada" });
  expect(done.output).toContain("project");
  await running.turn(session, "And now?");
  expect(asked()).toContain("$ pwd; exit 3");
  await running.turn(session, "And then?");
  expect(asked()).not.toContain("$ pwd");
});

const wall = knownWall(process.env);

test.skipIf(!wall.on)("a person's shell command runs in the session's sandbox, without the model's API", async () => {
  await writeFile(join(stage.root, "secret"), "of the host");
  const strict = await stage.open({
    sandbox: { mode: "require" },
    trustOf: async (folder) => ({ trusted: true, state: "trusted", folder, since: null }),
  });
  const session = await strict.session();
  const shell = (command: string) => strict.engine.sessions.shell(session.id, command, "Ada", inTime());
  const ran = await shell(`echo done > inside.txt; cat ${join(stage.root, "secret")}; ls /run/tandem; exit 3`);
  expect(ran).toMatchObject({ exit_code: 3 });
  expect(ran.output).not.toContain("of the host");
  expect(ran.output).not.toContain("api.sock");
  expect(await readFile(join(stage.folder, "inside.txt"), "utf8")).toBe("done\n");
  await strict.stop();
});

test("commands are listed with their source", async () => {
  const session = await running.reuse();
  const listed = await running.engine.sessions.commands(session.id);
  const brief = listed.map(({ name, source, runs_shell }) => [name, source, runs_shell]);
  expect(brief).toContainEqual(["issue", "project", false]);
  expect(brief).toContainEqual(["git:log", "project", true]);
  expect(brief).toContainEqual(["shadow", "user", false]);
  expect(brief).toContainEqual(["compact", "built_in", false]);
});

test("agent files are subagents: the user's own, and a trusted folder's", async () => {
  const multiagent = { type: "multiagent_20261001" as const, subagents: { type: "enabled" as const } };
  await running.turn(await running.session({}, { multiagent }), "Who is there?");
  expect(JSON.stringify(lastBody()).includes("copyist")).toBe(true);
  expect(JSON.stringify(lastBody()).includes("second-reader")).toBe(false);
  isTrusted = true;
  await running.turn(await running.session({}, { multiagent }), "And now?");
  expect(JSON.stringify(lastBody()).includes("second-reader: Reads closely")).toBe(true);
  await running.turn(await running.reuse(), "Alone?");
  expect(JSON.stringify(lastBody()).includes("copyist")).toBe(false);
});

test("a file that changes after the check of the folder takes no effect", async () => {
  const files = ["swapped.md", "../agents/swapped.md"].map((name) => join(commands, name));
  onCheck = async (when) => {
    const kind = when === "before" ? "trusted" : "swapped";
    const body = `---\ndescription: ${kind}\n---\n${kind} words\n!\`echo ${kind} >> swapped.txt\``;
    for (const file of files) await writeFile(file, body);
  };
  isTrusted = true;
  const multiagent = { type: "multiagent_20261001" as const, subagents: { type: "enabled" as const } };
  const session = await running.session({}, { ...ALLOW_ALL, multiagent });
  await type(session, "/swapped");
  expect(asked()).toContain("trusted words");
  expect(JSON.stringify(lastBody())).toContain("swapped: trusted");
  expect(await readFile(join(stage.folder, "swapped.txt"), "utf8")).toBe("trusted\n");
  for (const file of files) await rm(file);
});

test("a session can start with a command, and a folder's commands can be listed before", async () => {
  const { sessions } = running.engine;
  expect((await sessions.commandsIn(stage.folder)).map(({ name }) => name)).toContain("issue");
  await expect(sessions.commandsIn("/")).rejects.toMatchObject({ code: "forbidden" });
  const message = (words: string) => ({
    type: "user.message" as const,
    content: [{ type: "text" as const, text: words }],
    tandem: { commands: true },
  });
  const session = await running.session({ initial_events: [message("/issue 7")] });
  const events = await running.until(session, isIdle);
  expect(the(events, "tandem.command")).toMatchObject({ name: "issue", arguments: "7" });
  await expect(running.session({ initial_events: [message("/isue 7")] })).rejects.toMatchObject({
    fix: "Did you mean /issue?",
  });
});

// Ends every process: last.
test("a person's shell command ends on an emergency stop, and none starts before resume", async () => {
  const session = await running.reuse();
  const job = {
    space: "s",
    kind: "k",
    params: {},
    state: "queued" as const,
    progress: null,
    result: null,
    error: null,
  };
  const times = { createdAt: new Date().toISOString(), startedAt: null, endedAt: null };
  const ids = Array.from({ length: 230 }, (_, index) => `job_${index}` as never);
  for (const id of ids) await running.store.jobs.create({ ...job, ...times, id, cancelRequested: false });
  const shell = (command: string) => running.engine.sessions.shell(session.id, command, "Ada", inTime());
  const begun = shell("touch begun; tail -f /dev/null").catch((error: Error) => error);
  await expect.poll(() => existsSync(join(stage.folder, "begun"))).toBe(true);
  await running.engine.killSwitch.stop("ada", "It is in a loop.");
  try {
    expect(await begun).toMatchObject({ code: "conflict", message: expect.stringContaining("stopped by ada") });
    await expect(shell("touch after")).rejects.toThrow("stopped by ada");
    expect(existsSync(join(stage.folder, "after"))).toBe(false);
    for (const id of ids) expect(await running.store.jobs.get(id)).toMatchObject({ cancelRequested: true });
  } finally {
    await running.engine.killSwitch.resume("ada");
  }
});
