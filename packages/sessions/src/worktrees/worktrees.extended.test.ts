import { existsSync } from "node:fs";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Session } from "@tandem/protocol";
import { reply, text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { describe, expect, inject, test } from "vitest";
import { ALLOW_ALL, setEngineStage, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";
import { whyNoSandbox } from "../sandbox/sandbox.ts";
import type { SandboxSettings } from "../sandbox/sandbox-settings.ts";
import { DEFAULT_WORKTREES, type WorktreeSettings } from "./worktree-maker.ts";

const run = promisify(execFile);
const noSandbox = await whyNoSandbox(process.env);
const PORTS = { from: 44_000, size: 4 };

/** Runs the command in its message, and reports the result. */
const shell = ({ lastUserText, toolResults }: ModelRequest) =>
  toolResults.length > 0
    ? text(toolResults.map((result) => result.text).join())
    : reply([toolUse("Bash", { command: lastUserText.slice(lastUserText.indexOf("run: ") + 5), description: "Run" })]);

async function inRepository(stage: EngineStage, ...args: string[]): Promise<string> {
  const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
  return (
    await run("git", [...who, ...args], { cwd: stage.folder, timeout: 30_000 * inject("slowness") })
  ).stdout.trim();
}

async function open(stage: EngineStage, settings: Partial<WorktreeSettings> = {}, sandbox?: SandboxSettings) {
  await inRepository(stage, "init", "--quiet");
  await writeFile(join(stage.folder, "a.txt"), "one\n");
  await writeFile(join(stage.folder, ".gitignore"), ".env\nready\n");
  await inRepository(stage, "add", "--all");
  await inRepository(stage, "commit", "--quiet", "--message", "first");
  const worktrees = { ...DEFAULT_WORKTREES, ports: PORTS, ...settings };
  const running = await stage.open({ worktrees, ...(sandbox && { sandbox }) });
  const environment = await running.engine.environments.create({
    name: "own worktrees",
    metadata: { "tandem.path": stage.folder, "tandem.isolation": "worktree" },
  });
  return {
    engine: running.engine,
    begin: (metadata: Record<string, string> = {}) =>
      running.session({ environment_id: environment.id, metadata }, ALLOW_ALL),
    turn: (session: Session, words: string) => running.turn(session, words),
  };
}

const say = (events: Awaited<ReturnType<RunningEngine["turn"]>>): string =>
  events
    .flatMap(({ event }) => (event.type === "agent.message" ? event.content.map((block) => block.text) : []))
    .join("");

describe("a session in a worktree", () => {
  test("has its copied files, setup and ports, also in its shell", async () => {
    await using stage = await setEngineStage(shell);
    const setup = 'test -f .env && echo "made in $TANDEM_WORKTREE from $TANDEM_SOURCE_FOLDER" > ready && echo set up';
    const { engine, begin, turn } = await open(stage, { copy: [".env"], setup });
    await writeFile(join(stage.folder, ".env"), "KEY=1\n");
    const [one, two] = [await begin({ "tandem.worktree": "first-try" }), await begin()];
    const [a, b] = [await engine.worktrees.status(one.id), await engine.worktrees.status(two.id)];
    expect(a).toMatchObject({ branch: "tandem/first-try", from: "main", copied: 1, setup: { output: "set up\n" } });
    expect(b.branch).toBe(`tandem/${two.id}`);
    expect(Math.abs(a.ports.from - b.ports.from)).toBeGreaterThanOrEqual(4);
    expect(await readFile(join(a.folder, "ready"), "utf8")).toBe(`made in ${a.folder} from ${a.repository}\n`);
    expect(a.unsaved).toEqual({ uncommitted: [], commits: 0, stashes: 0 });
    const said = say(await turn(one, "run: echo $TANDEM_PORT $TANDEM_PORT_COUNT $TANDEM_WORKTREE; cat .env"));
    expect(said).toContain(`${a.ports.from} 4 ${a.folder}`);
    expect(said).toContain("KEY=1");
    expect((await engine.worktrees.list()).map(({ session_id: id }) => id).toSorted()).toEqual(
      [one.id, two.id].toSorted(),
    );
  });

  test.skipIf(noSandbox !== undefined)(
    `runs its setup in the session's sandbox${noSandbox === undefined ? "" : ` (${noSandbox})`}`,
    async () => {
      await using stage = await setEngineStage();
      await writeFile(join(stage.root, "secret"), "of the host");
      const setup = `cat '${join(stage.root, "secret")}' || echo hidden; echo made > ready; echo mine > ~/mine; git status --short`;
      const { engine, begin } = await open(stage, { setup }, { mode: "require" });
      const session = await begin();
      const { folder, setup: done } = await engine.worktrees.status(session.id);
      expect(done?.output).toContain("hidden");
      expect(done?.output).not.toContain("of the host");
      expect(await readFile(join(folder, "ready"), "utf8")).toBe("made\n");
      expect(existsSync(join(stage.root, "state", "sandboxes", session.id, "home", "mine"))).toBe(true);
    },
  );

  test("a failing setup fails the session with its last output and leaves nothing behind", async () => {
    await using stage = await setEngineStage();
    const { engine, begin } = await open(stage, { setup: "echo installing; echo no such package >&2; exit 4" });
    await expect(begin()).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/ended with 4.*no such package/s),
    });
    expect(await readdir(join(stage.root, "state", "worktrees"))).toEqual([]);
    expect(await readdir(join(stage.root, "state", "ports"))).toEqual([]);
    expect(await readdir(join(stage.root, "state", "sandboxes")).catch(() => [])).toEqual([]);
    expect(await inRepository(stage, "branch", "--list", "tandem/*")).toBe("");
    expect((await engine.sessions.list({ limit: 5 })).data).toEqual([]);
  });

  test("its patch is applied to the user's files and its commits are merged; both can be undone, and a dirty checkout stays unchanged", async () => {
    await using stage = await setEngineStage(shell);
    const { engine, begin, turn } = await open(stage);
    const session = await begin();
    await turn(session, "run: echo two >> a.txt; echo new > b.txt");
    expect(await engine.worktrees.patch(session.id)).toContain("+two");
    const dry = { dry_run: true, undo: false };
    const params = { dry_run: false, undo: false };
    expect((await engine.worktrees.apply(session.id, dry, "bob")).files.toSorted()).toEqual(["a.txt", "b.txt"]);
    expect(existsSync(join(stage.folder, "b.txt"))).toBe(false);
    await engine.worktrees.apply(session.id, params, "bob");
    expect(await readFile(join(stage.folder, "b.txt"), "utf8")).toBe("new\n");
    await expect(engine.worktrees.apply(session.id, params, "bob")).rejects.toMatchObject({ code: "conflict" });
    const undone = await engine.worktrees.apply(session.id, { ...params, undo: true }, "bob");
    expect(undone.undone).toBe(true);
    expect(await inRepository(stage, "status", "--porcelain")).toBe("");

    const first = await inRepository(stage, "rev-parse", "main");
    await expect(engine.worktrees.merge(session.id, params, "ann")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("a.txt"),
    });
    await turn(
      session,
      "run: rm b.txt && git -c user.name=Bot -c user.email=bot@x commit -qam work && echo more > loose",
    );
    await writeFile(join(stage.folder, "a.txt"), "mine\n");
    await expect(engine.worktrees.merge(session.id, params, "ann")).rejects.toMatchObject({ code: "conflict" });
    expect(await inRepository(stage, "rev-parse", "main")).toBe(first);
    await inRepository(stage, "checkout", "--quiet", "--", "a.txt");
    expect(await engine.worktrees.merge(session.id, params, "ann")).toMatchObject({
      into: "main",
      kind: "fast-forward",
      commits: 1,
      left: ["loose"],
    });
    expect(await readFile(join(stage.folder, "a.txt"), "utf8")).toBe("one\ntwo\n");
    await engine.worktrees.merge(session.id, { ...params, undo: true }, "ann");
    expect(await inRepository(stage, "rev-parse", "main")).toBe(first);
    expect(await readFile(join(stage.folder, "a.txt"), "utf8")).toBe("one\n");
    const kinds = (await engine.audit.list({ limit: 50, actor: "ann" })).data.map(({ kind }) => kind);
    expect(kinds).toEqual(["worktree.undone", "worktree.merged"]);
  });

  test("is removed if nothing would be lost: on demand, on archive if configured, and by pruning", async () => {
    await using stage = await setEngineStage(shell);
    const { engine, begin, turn } = await open(stage, { removeAtArchive: true });
    const [clean, dirty, done] = [await begin(), await begin(), await begin()];
    await turn(dirty, "run: echo two >> a.txt");
    const none = { keep_branch: false, discard: false };
    await expect(engine.worktrees.remove(dirty.id, none, "ann")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("1 change not committed, such as a.txt"),
    });
    expect((await engine.sessions.get(dirty.id)).archived_at).toBeNull();
    await turn(dirty, "run: git -c user.name=Bot -c user.email=bot@x commit -qam work");
    await expect(engine.worktrees.remove(dirty.id, none, "ann")).rejects.toMatchObject({
      message: expect.stringContaining("1 commit on no other branch"),
    });

    await engine.sessions.archive(clean.id);
    await engine.sessions.archive(dirty.id);
    expect((await engine.worktrees.list()).map(({ session_id: id }) => id).toSorted()).toEqual(
      [dirty.id, done.id].toSorted(),
    );
    expect(await engine.worktrees.prune(false, "ann")).toMatchObject({ removed: [], kept: [{ session_id: dirty.id }] });
    await engine.worktrees.remove(dirty.id, { ...none, keep_branch: true }, "ann");
    expect(await inRepository(stage, "log", "-1", "--format=%s", `tandem/${dirty.id}`)).toBe("work");
    await engine.worktrees.remove(done.id, none, "ann");
    expect((await engine.sessions.get(done.id)).archived_at).not.toBeNull();
    expect(await readdir(join(stage.root, "state", "worktrees"))).toEqual([]);
    expect(await readdir(join(stage.root, "state", "ports"))).toEqual([]);
  });
});
