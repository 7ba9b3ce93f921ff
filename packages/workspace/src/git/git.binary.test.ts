import { readFile, writeFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { git, GitFailed, runGit } from "./git.ts";
import { isAlive } from "../is-alive.ts";
import { commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

it("returns the output or git's error", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ a: "" });
  const commit = await commitAll(tree.path, "first");
  expect(await git(tree.path, ["rev-parse", "HEAD"])).toBe(`${commit}\n`);
  const failed = git(tree.path, ["rev-parse", "--verify", "nowhere"]);
  await expect(failed).rejects.toBeInstanceOf(GitFailed);
  await expect(failed).rejects.toMatchObject({ code: "git_failed", stderr: expect.stringMatching(/single revision/) });
});

it("truncates long output and reports it", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ a: "x".repeat(1_000_000) });
  await commitAll(tree.path, "first");
  const outcome = await runGit(tree.path, ["cat-file", "blob", "HEAD:a"], { maxBytes: 1_000 });
  expect(outcome.truncated).toBe(true);
  expect(outcome.stdout).toHaveLength(1_000);
});

it("kills a slow command with all its children", async () => {
  await using tree = await temporaryFolder();
  await commitAll(tree.path, "first");
  // An alias makes git wait; our code never calls one.
  const script = `!echo $$ > ${tree.at("pid")}; sleep 600`;
  const settings = { "alias.wait": script };
  onTestFinished(() => void vi.useRealTimers());
  // The time must not end before the child runs.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const slow = runGit(tree.path, ["wait"], { timeoutMs: 2_000, settings });
  const readPid = () => readFile(tree.at("pid"), "utf8").then(Number, () => 0);
  await expect.poll(readPid).toBeGreaterThan(0);
  const pid = await readPid();
  vi.advanceTimersByTime(2_000);
  await expect(slow).rejects.toMatchObject({ code: "unavailable" });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it("inherits nothing from the user's environment except PATH", async () => {
  await using tree = await temporaryFolder();
  await using home = await temporaryFolder();
  await home.write({ ".gitconfig": "[alias]\n\tx = !echo from-home\n[core]\n\tabbrev = 40\n" });
  await commitAll(tree.path, "first");
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("HOME", home.path);
  vi.stubEnv("GIT_DIR", home.path);
  vi.stubEnv("GIT_CONFIG_GLOBAL", home.at(".gitconfig"));
  await expect(git(tree.path, ["x"])).rejects.toBeInstanceOf(GitFailed);
  expect(await git(tree.path, ["rev-parse", "--show-toplevel"])).toBe(`${tree.path}\n`);
});

it("does not run a program called git from the folder", async () => {
  await using tree = await temporaryFolder();
  await writeFile(tree.at("git"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("PATH", ["", ".", process.env["PATH"]].join(delimiter));
  expect(await git(tree.path, ["--version"])).toMatch(/^git version/);
});

it("reports a missing git or a missing folder", async () => {
  await using tree = await temporaryFolder();
  await expect(git(tree.at("gone"), ["--version"])).rejects.toMatchObject({ code: "invalid_request" });
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("PATH", tree.path);
  await expect(git(tree.path, ["--version"])).rejects.toMatchObject({
    code: "not_supported",
    fix: expect.stringMatching(/Install git/),
  });
});

it("runs nothing of a bare repository that an agent may have written", async () => {
  await using tree = await temporaryFolder();
  const config = `[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = "touch ${tree.at("ran")}; false"\n`;
  await tree.write({ HEAD: "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", config });
  // Without the setting, git takes the folder for a repository, and would run the program.
  const believed = await runGit(tree.path, ["rev-parse", "--git-dir"], {
    outside: { protocols: [], variables: { GIT_CONFIG_COUNT: "0", GIT_CONFIG_GLOBAL: "/dev/null" } },
  });
  expect(believed.exitCode).toBe(0);
  expect((await runGit(tree.path, ["status"])).exitCode).not.toBe(0);
  await expect(readFile(tree.at("ran"))).rejects.toThrow("ENOENT");
});

it("names a repository that was checked before to git", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ a: "" });
  await commitAll(tree.path, "first");
  const place = { folder: tree.path, gitDir: tree.at(".git") };
  expect(await git(place, ["rev-parse", "--show-toplevel"])).toBe(`${tree.path}\n`);
  // A folder that is no repository any more is not looked for above it.
  const elsewhere = { folder: tree.path, gitDir: tree.at("gone") };
  await expect(git(elsewhere, ["status"])).rejects.toBeInstanceOf(GitFailed);
});
