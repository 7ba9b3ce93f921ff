import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitMounts } from "./git-mounts.ts";
import { probe } from "./probe-wall.ts";
import type { Mount } from "./sandbox-plan.ts";
import { sandboxMounts } from "./sandbox-mounts.ts";
import { runInSandbox, type Ran } from "./testing/run-in-sandbox.ts";

const wall = probe(process.env["PATH"] ?? "", undefined, process);
let base: string;
let repository: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-git-")));
  repository = join(base, "repository");
  mkdirSync(join(base, "private"));
  git(base, "init", "-q", "-b", "main", repository);
  commit(repository);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const NAME = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", [...NAME, "-c", "protocol.file.allow=always", ...args], { cwd, encoding: "utf8", stdio: "pipe" });
const commit = (cwd: string): string => git(cwd, "commit", "-q", "--allow-empty", "-m", "first");

const run = async (folder: string, script: string): Promise<Ran> => {
  if (!wall.on) throw new Error(wall.reason);
  const place = { folder, home: join(base, "home"), tandemHome: join(base, "tandem"), path: "/usr/bin:/bin" };
  const plan = {
    home: { from: join(base, "private"), at: place.home },
    mounts: sandboxMounts({ ...place, identity: { name: "A", email: "a@example.com" } }),
    sockets: [],
    relays: [],
    limits: { tmpMb: 16 },
  };
  return runInSandbox(wall, plan, folder, `set -e\n${script}`);
};

const WORK = `echo 1 >a; git add a; git commit -qm two; git branch b; git commit -q --allow-empty -m three
  git checkout -q b; echo 2 >c; git add c; git commit -qm four; git rebase -q main 2>/dev/null || git rebase main
  git stash list; git gc -q; git pack-refs --all; git log --format=%s | tr '\\n' ' '`;

describe.skipIf(!wall.on)("in a sandbox", () => {
  test("git works in a repository, and its configuration stays as it is", async () => {
    expect(await run(repository, WORK)).toMatchObject({ code: 0, output: expect.stringContaining("first") });
    for (const attack of [
      "git config core.fsmonitor x",
      "echo x >.git/hooks/pre-commit",
      "rm -rf .git/hooks",
      "mv .git old",
      "echo ../other >.git/commondir",
      "rm .git/commondir",
      "echo /srv/other/.git/objects >.git/objects/info/alternates",
      "mv .git/objects/info .git/objects/old",
      "mv .git/objects .git/old",
    ]) {
      expect(await run(repository, attack), attack).not.toMatchObject({ code: 0 });
    }
    // Outside, too.
    git(repository, "worktree", "add", "-q", join(base, "tree"));
    expect(git(repository, "worktree", "list").split("\n")[0]).toMatch(/^\S+\/repository /);
    expect(git(repository, "status", "--porcelain")).toBe("");
  });

  test("hooks and settings that the configuration names in the work tree stay as they are", async () => {
    mkdirSync(join(repository, "tools/hooks"), { recursive: true });
    writeFileSync(join(repository, "tools/gitconfig"), "[alias]\n\tx = status\n");
    git(repository, "config", "core.hooksPath", "tools/hooks");
    git(repository, "config", "include.path", "../tools/gitconfig");
    git(repository, "config", "extensions.worktreeConfig", "true");
    git(repository, "add", "-A");
    git(repository, "commit", "-q", "-m", "tools");
    expect(await run(repository, `echo x >tools/other; ${WORK}`)).toMatchObject({ code: 0 });
    for (const attack of [
      "echo x >tools/hooks/pre-commit",
      "echo x >tools/gitconfig",
      "mv tools/hooks tools/old",
      "mv tools old",
      "echo x >.git/config.worktree",
    ]) {
      expect(await run(repository, attack), attack).not.toMatchObject({ code: 0 });
    }
    expect(git(repository, "status", "--porcelain")).toBe("?? tools/other\n");
  });

  test("git works in a worktree, which cannot touch the repository's configuration or other worktrees", async () => {
    const folder = join(base, "tree");
    git(repository, "worktree", "add", "-q", "-b", "tree", folder);
    git(repository, "worktree", "add", "-q", "-b", "other", join(base, "other"));
    expect(await run(folder, WORK.replaceAll("main", "tree").replace("git gc -q;", ""))).toMatchObject({ code: 0 });
    const { output } = await run(folder, `cat ${repository}/README 2>&1 || true; ls ${repository} -A`);
    expect(output.trim().split("\n").at(-1)).toBe(".git");
    for (const attack of [
      "git config core.fsmonitor x",
      `echo x >${repository}/.git/hooks/pre-commit`,
      `echo x >${repository}/.git/worktrees/other/HEAD`,
      `echo x >${repository}/.git/worktrees/tree/gitdir`,
      "echo 'gitdir: /' >.git",
      `mv ${repository}/.git/worktrees ${repository}/.git/old`,
      "mv .git old",
    ]) {
      expect(await run(folder, attack), attack).not.toMatchObject({ code: 0 });
    }
  });

  test("hooks and settings of a submodule stay as they are", async () => {
    const library = join(base, "library");
    git(base, "init", "-q", library);
    commit(library);
    git(repository, "submodule", "--quiet", "add", library, "lib");
    const work = "cd lib; git commit -q --allow-empty -m two; cd ..; git add lib; git commit -qm three; git gc -q";
    expect(await run(repository, work)).toMatchObject({ code: 0 });
    for (const attack of [
      "git -C lib config core.fsmonitor x",
      "echo x >.git/modules/lib/hooks/pre-commit",
      "mv .git/modules/lib .git/modules/old",
      "mv .git/modules .git/old",
      "echo ../other >.git/modules/lib/commondir",
    ]) {
      expect(await run(repository, attack), attack).not.toMatchObject({ code: 0 });
    }
    expect(git(repository, "submodule", "status")).toMatch(/^ \w+ lib/);
    git(repository, "submodule", "deinit", "-q", "lib");
    git(repository, "submodule", "--quiet", "update", "--init");
    expect(git(repository, "status", "--porcelain")).toBe("");
  });
});

describe("a folder that an agent prepared", () => {
  const secret = (): string => {
    const folder = join(base, "secret");
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const isShown = (mounts: readonly Mount[]): boolean =>
    mounts.some((mount) => "from" in mount && mount.from.startsWith(secret()));

  test("cannot name another repository as its own", () => {
    const other = join(secret(), "repository");
    git(base, "init", "-q", other);
    commit(other);
    git(other, "worktree", "add", "-q", "-b", "tree", join(base, "tree"));
    const folder = join(base, "agent");
    mkdirSync(folder);
    for (const target of [`${other}/.git`, `${other}/.git/worktrees/tree`, secret(), "../secret"]) {
      writeFileSync(join(folder, ".git"), `gitdir: ${target}\n`);
      expect(gitMounts(folder), target).toEqual([]);
    }
    // With a worktree entry of its own that names the other repository.
    const entry = join(folder, "fake/worktrees/x");
    mkdirSync(entry, { recursive: true });
    writeFileSync(join(entry, "gitdir"), join(folder, ".git"));
    writeFileSync(join(entry, "commondir"), `${other}/.git`);
    writeFileSync(join(folder, ".git"), `gitdir: ${entry}\n`);
    expect(isShown(gitMounts(folder))).toBe(false);
  });

  test.each(["hooks", "info", "config"])("cannot show a file of the host as its %s", (name) => {
    const path = join(repository, ".git", name);
    if (existsSync(path)) renameSync(path, `${path}.old`);
    symlinkSync(secret(), path);
    expect(() => gitMounts(repository)).toThrow(expect.objectContaining({ code: "sandbox_link" }));
  });

  test("cannot link its repository", () => {
    renameSync(join(repository, ".git"), join(base, "moved"));
    symlinkSync(join(base, "moved"), join(repository, ".git"));
    expect(() => gitMounts(repository)).toThrow(expect.objectContaining({ code: "sandbox_link" }));
  });

  test("cannot name the configuration of another repository", () => {
    writeFileSync(join(repository, ".git/commondir"), "../other\n");
    expect(() => gitMounts(repository)).toThrow(expect.objectContaining({ code: "sandbox_link" }));
  });

  test("cannot block the server with a pipe", () => {
    const folder = join(base, "agent");
    mkdirSync(join(folder, "worktrees/x"), { recursive: true });
    execFileSync("sh", ["-c", "mkfifo .git worktrees/x/gitdir"], { cwd: folder });
    expect(gitMounts(folder)).toEqual([]);
    rmSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git"), `gitdir: ${join(folder, "worktrees/x")}\n`);
    expect(gitMounts(folder)).toEqual([]);
  });

  test("cannot link a submodule's repository", () => {
    const other = join(secret(), "bare");
    git(base, "init", "-q", "--bare", other);
    mkdirSync(join(repository, ".git/modules"));
    symlinkSync(other, join(repository, ".git/modules/x"));
    expect(isShown(gitMounts(repository))).toBe(false);
  });
});
