import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { project, type Session } from "@tandem/protocol";
import { slowly, text, toolUse, type ScriptEntry } from "@tandem/rehearsal";
import { exportSession } from "@tandem/storage";
import { afterAll, describe, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";
import { deny, isOver, pendingOf, untilAsked } from "../testing/until-asked.ts";

const CHECKPOINTS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

const stage = await setEngineStage();
const engine = await stage.open({ checkpoints: CHECKPOINTS, compactAt: 0.8 });
afterAll(() => stage[Symbol.asyncDispose]());

const git = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  });
const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });
const lastRequest = (): string => JSON.stringify(stage.rehearsal.requests.at(-1));
const folderOf = async (session: Session) => (await engine.store.sessions.get(session.id))!.folder;

async function turn(session: Session, words: string, ...script: ScriptEntry[]) {
  stage.rehearsal.use(script);
  return engine.turn(session, words);
}

/** Everything that is stored of a session. */
async function allOf(session: Session): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportSession(engine.store, session.id)) lines.push(line);
  return lines;
}

/** Waits for an approval in one test, and is compacted in another. */
let source: Session;

describe("a fork", () => {
  let parent: Session;
  let fork: Session;

  test("knows the conversation up to that point; its source stays unchanged", async () => {
    const environment = await engine.engine.environments.create({ name: "scratch" });
    parent = await engine.session({ title: "Parent", environment_id: environment.id }, ALLOW_ALL);
    await turn(parent, "FIRST-words", toolUse("Bash", { command: "echo 1 > a.txt" }), text("One."));
    await turn(parent, "SECOND-words", text("Two."));
    const before = await allOf(parent);
    const [, second] = (await engine.engine.history.checkpoints(parent.id)).turns;
    fork = await engine.engine.history.fork(parent.id, { before_message_id: second!.message_id }, "ada");
    expect(fork).toMatchObject({
      status: "idle",
      title: "Parent",
      agent: parent.agent,
      environment_id: parent.environment_id,
      metadata: { "tandem.forked_from": parent.id },
      usage: { output_tokens: 0, list_cost: { amount: "0" } },
    });
    await turn(fork, "THIRD-words", text("Three."));
    expect(lastRequest()).toContain("FIRST-words");
    expect(lastRequest()).not.toContain("SECOND-words");
    const { events } = await engine.engine.sessions.events(fork.id, { limit: 1_000 });
    const [first] = events;
    expect(first!.event).toMatchObject({
      type: "tandem.forked",
      from_session_id: parent.id,
      before_message_id: second!.message_id,
      by: "ada",
    });
    const shown = JSON.stringify(project(events));
    expect(shown).toContain(`Forked from ${parent.id} by ada`);
    expect(shown).toContain("FIRST-words");
    expect(shown).not.toContain("SECOND-words");
    expect(await allOf(parent)).toEqual(before);
    const now = await engine.engine.sessions.get(fork.id);
    expect(now.usage.output_tokens).toBeGreaterThan(0);
    await turn(parent, "FOURTH-words", text("Four."));
    expect(lastRequest()).toContain("SECOND-words");
    expect(lastRequest()).not.toContain("THIRD-words");
  });

  test("of the end, of a fork, and rewound into the copied part", async () => {
    const again = await engine.engine.history.fork(fork.id, {});
    await turn(again, "FIFTH-words", text("Five."));
    expect(lastRequest()).toMatch(/FIRST-words.*THIRD-words/s);
    expect(lastRequest()).not.toContain("SECOND-words");
    await engine.engine.history.rewind(again.id, { turn: 2, scope: "conversation" });
    await turn(again, "SIXTH-words", text("Six."));
    expect(lastRequest()).toContain("FIRST-words");
    expect(lastRequest()).not.toMatch(/THIRD-words|FIFTH-words/);
  });

  test("in its own worktree has the files of that time, including ignored ones, and leaves the user's repository unchanged", async () => {
    const repository = join(stage.folder, "repository");
    await mkdir(repository);
    await writeFile(join(repository, "a.txt"), "1\n");
    await writeFile(join(repository, ".gitignore"), ".env\n");
    git(repository, "init", "--quiet");
    git(repository, "add", ".");
    git(repository, "commit", "--quiet", "-m", "first");
    await writeFile(join(repository, ".env"), "KEY=1\n");
    const environment = await engine.engine.environments.create({
      name: "repository",
      metadata: { "tandem.path": repository },
    });
    const author = await engine.session({ environment_id: environment.id }, ALLOW_ALL);
    await turn(author, "One.", toolUse("Bash", { command: "echo 2 > a.txt; echo new > b.txt" }), text("Done."));
    await turn(author, "Two.", toolUse("Bash", { command: "echo 3 > a.txt; rm b.txt .env" }), text("Done."));
    const was = {
      status: git(repository, "--no-optional-locks", "status", "--porcelain"),
      head: git(repository, "rev-parse", "HEAD"),
    };
    const own = await engine.engine.history.fork(author.id, { turn: 2, worktree: true });
    const folder = await folderOf(own);
    expect(folder).not.toBe(repository);
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("2\n");
    expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("new\n");
    expect(await readFile(join(folder, ".env"), "utf8")).toBe("KEY=1\n");
    expect(await readFile(join(repository, "a.txt"), "utf8")).toBe("3\n");
    await turn(own, "Go on.", toolUse("Bash", { command: "rm a.txt && echo mine > c.txt" }), text("Done."));
    expect(lastRequest()).toContain("One.");
    expect([existsSync(join(folder, "a.txt")), existsSync(join(repository, "c.txt"))]).toEqual([false, false]);
    await engine.engine.history.rewind(own.id, { scope: "files" });
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("2\n");
    expect(git(repository, "--no-optional-locks", "status", "--porcelain")).toBe(was.status);
    expect(git(repository, "rev-parse", "HEAD")).toBe(was.head);

    // A fork that races a message copies no part of its turn.
    stage.rehearsal.use([slowly(text("Late."), { firstByteMs: 1_500 })]);
    const head = await engine.engine.sessions.head(own.id);
    const racing = engine.engine.history.fork(own.id, { worktree: true });
    const sent = await engine.say(own, "RACING-words");
    expect((await engine.engine.sessions.get(own.id)).status).toBe("running");
    const raced = await racing.catch((error: unknown) => error);
    if (raced instanceof Error) expect(raced).toMatchObject({ code: "conflict" });
    else {
      const { events: copied } = await engine.engine.sessions.events((raced as Session).id, { limit: 1_000 });
      expect(copied.map(({ event }) => event.id)).not.toContain(sent);
    }
    await engine.until(own, isIdle, head);

    // All worktrees of a folder share one environment, whatever their start commit.
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", "-m", "second");
    const forks = [
      await engine.engine.history.fork(author.id, { worktree: true }),
      await engine.engine.history.fork(own.id, {}),
    ];
    const folders = await Promise.all(forks.map(folderOf));
    expect(new Set([folder, ...folders]).size).toBe(3);
    expect(folders.map((each) => git(each, "log", "-1", "--format=%s").trim())).toEqual(["first", "second"]);
    const environments = await engine.engine.environments.list({ limit: 100 });
    const made = environments.data.filter(({ metadata }) => metadata["tandem.isolation"] === "worktree");
    expect(made).toMatchObject([{ name: `${repository} (worktrees)` }]);
    expect([own, ...forks].map(({ environment_id: id }) => id)).toEqual(Array.from({ length: 3 }, () => made[0]!.id));
  });

  test("of a session in a scratch folder gets its own folder", async () => {
    const own = await engine.engine.history.fork(parent.id, {});
    const folder = await folderOf(own);
    expect(folder).not.toBe(await folderOf(parent));
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("1\n");
    await engine.engine.sessions.delete(own.id);
    expect(existsSync(join(await folderOf(parent), "a.txt"))).toBe(true);
  });

  test("of a session that waits for an approval closes the call in the copy, and the source keeps waiting", async () => {
    source = await engine.session();
    stage.rehearsal.use([toolUse("Bash", { command: "touch forked.txt" }), text("Done.")]);
    const [asked] = await untilAsked(engine, source);
    const copy = await engine.engine.history.fork(source.id, {}, "ada");
    expect(await pendingOf(engine, copy)).toEqual([]);
    const { events } = await engine.engine.sessions.events(copy.id, { limit: 1_000 });
    expect(the(events.toReversed(), "tandem.tool_state")).toMatchObject({ event_id: asked!.id, state: "interrupted" });
    expect(await pendingOf(engine, source)).toMatchObject([{ id: asked!.id, state: "waiting" }]);
    await engine.engine.approvals.answer(asked!.id, deny, "ada");
    await engine.until(source, isOver);
  });

  test("of the current end is refused while a turn runs", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "tail -F nothing.txt" })]);
    await engine.markRead(parent);
    await engine.say(parent, "Wait.");
    await engine.until(parent, ({ event }) => event.type === "agent.tool_use");
    await expect(engine.engine.history.fork(parent.id, {})).rejects.toMatchObject({ code: "conflict" });
    await engine.engine.sessions.send(parent.id, [{ type: "user.interrupt" }]);
    await engine.until(parent, ({ event }) => event.type === "session.status_idle");
  });
});

test("compaction runs once at idle when the context is nearly full", async () => {
  await engine.markRead(source);
  const summary = text("<summary>Hello.</summary>", usage(700, 70));
  await turn(source, "Fill it.", text("Big.", usage(900_000, 5)), summary);
  const events = await engine.until(source, ({ event }) => event.type === "tandem.compaction");
  expect(typesOf(events).filter((type) => type === "session.status_idle")).toHaveLength(1);
  const compacted = events.at(-1)!;
  await engine.until(source, isIdle, compacted.seq);
  expect(stage.rehearsal.requests).toHaveLength(2);
  await turn(source, "Go on.", text("Small.", usage(50, 5)));
  expect(stage.rehearsal.requests).toHaveLength(1);
  expect(await engine.engine.sessions.get(source.id)).toMatchObject({ status: "idle" });
});
