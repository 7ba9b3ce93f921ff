import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CheckpointStores } from "../checkpoints/checkpoint-stores.ts";
import { copyIncluded } from "../worktrees/copy-included.ts";
import { listFiles } from "../list-files.ts";
import { mergeWorktree } from "../worktrees/merge-worktree.ts";
import { searchFolder } from "../search-folder.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.ts";
import { findUnsaved, readPrepared } from "../worktrees/unsaved-work.ts";
import { createWorktree, removeWorktree } from "../worktrees/worktree.ts";
import { applyPatch, readWorktreePatch } from "../worktrees/worktree-patch.ts";

const LIMITS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 60_000 };
const WHO = { name: "Test", email: "test@example.com" };

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const mark = (): string => folder.at("ran");

/** A repository whose settings run a program in every way that git has for its files. */
async function plant(path: string): Promise<void> {
  await rm(folder.at(path), { recursive: true, force: true });
  await folder.write({ [`${path}/a.txt`]: "1\n", [`${path}/.gitattributes`]: "* filter=evil diff=evil\n" });
  await commitAll(folder.at(path), "inner");
  await infect(path);
  // Changed, so that git compares the content of its files.
  await writeFile(folder.at(path, "a.txt"), "2\n");
}

async function infect(path: string): Promise<void> {
  const program = `touch ${mark()}; cat`;
  const settings = `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "${program}"\n\thooksPath = ${folder.at("hooks")}\n\tsshCommand = "${program}"\n\tpager = "${program}"\n[filter "evil"]\n\tclean = "${program}"\n\tsmudge = "${program}"\n\tprocess = "${program}"\n\trequired = true\n[diff "evil"]\n\ttextconv = "${program}"\n\tcommand = "${program}"\n[diff]\n\texternal = "${program}"\n\tignoreSubmodules = none\n[status]\n\tsubmoduleSummary = true\n`;
  await writeFile(folder.at(path, ".git/config"), settings);
  for (const hook of ["post-checkout", "post-index-change", "pre-commit", "reference-transaction"]) {
    await folder.write({ [`hooks/${hook}`]: `#!/bin/sh\ntouch ${mark()}\n` });
    await chmod(folder.at("hooks", hook), 0o755);
  }
}

/** The outer repository contains `sub` as a commit, an untracked `other`, and `file`, which becomes a repository. */
async function stage(): Promise<string> {
  await folder.write({ "repo/top.txt": "1\n", "repo/file": "1\n", "repo/sub/a.txt": "1\n" });
  await commitAll(folder.at("repo/sub"), "inner");
  await commitAll(folder.at("repo"), "outer");
  for (const path of ["repo/sub", "repo/other"]) await plant(path);
  return folder.at("repo");
}

/** The same settings do run a program when a person's git reads them. */
async function expectProof(): Promise<void> {
  expect(existsSync(mark())).toBe(false);
  await asUser(folder.at("repo"), "status").catch(() => undefined);
  expect(existsSync(mark())).toBe(true);
}

describe("settings of a repository inside of a session's folder run no program", () => {
  it("in checkpoints, their differences and a rewind", async () => {
    const repo = await stage();
    const store = await new CheckpointStores(folder.at("checkpoints"), LIMITS).of(repo);
    const before = await store.take("one", "first");
    await plant("repo/file");
    await writeFile(folder.at("repo/top.txt"), "2\n");
    const after = await store.take("one", "second");
    await writeFile(folder.at("repo/file/a.txt"), "3\n");
    const present = await store.take("one", "third");
    const paths = (await store.changes(before, present)).map(({ path }) => path);
    expect(paths).toContain("top.txt");
    await store.diff(before, after, { patch: true, maxFiles: 100, maxPatchBytes: 1024 * 1024 });
    await store.restore("one", "back", { present, target: before, paths: new Set(["top.txt"]) });
    await store.collect();
    await expectProof();
  });

  it("in lists, searches and the state of the folder", async () => {
    const repo = await stage();
    expect(await listFiles(repo, performance.now() + 60_000)).toContain("top.txt");
    await listFiles(folder.at("repo/sub"), performance.now() + 60_000);
    expect(await searchFolder(repo, { text: "1", limit: 10 })).not.toEqual([]);
    expect((await findUnsaved(repo)).uncommitted).toContain("sub");
    expect((await findUnsaved(folder.at("repo/sub"))).uncommitted).toContain("a.txt");
    await expectProof();
  });

  it("in worktrees, their patches and merges", async () => {
    const repo = await stage();
    const tree = await createWorktree({ repository: repo, into: folder.at("trees/t") });
    await copyIncluded(repo, tree.folder, ["other/"]);
    for (const path of ["trees/t/sub", "trees/t/new"]) await plant(path);
    await mkdir(folder.at("trees/t/deep"));
    await plant("trees/t/deep/er");
    await writeFile(folder.at("trees/t/top.txt"), "2\n");
    await readPrepared(tree.folder);
    expect((await findUnsaved(tree.folder)).uncommitted).toContain("top.txt");
    const { patch } = await readWorktreePatch(tree.folder, tree.commit);
    expect(patch).toContain("+2");
    await applyPatch(repo, patch, { dryRun: true }).catch(() => undefined);
    const merge = { into: "main", message: "merge", who: WHO };
    await asUser(tree.folder, "-c", "core.fsmonitor=false", "commit", "--quiet", "--message=two", "--", "top.txt");
    await rm(mark(), { force: true });
    await expect(mergeWorktree(tree.folder, merge)).rejects.toMatchObject({ code: "conflict" });
    await removeWorktree(tree.folder, { discard: true });
    expect(existsSync(tree.folder)).toBe(false);
    await expectProof();
  });

  it("in a merge that updates the folder", async () => {
    await folder.write({ "repo/top.txt": "1\n", "repo/sub/a.txt": "1\n" });
    for (const path of ["repo/sub", "repo"]) await commitAll(folder.at(path), path);
    const tree = await createWorktree({ repository: folder.at("repo"), into: folder.at("trees/t") });
    await writeFile(folder.at("trees/t/top.txt"), "2\n");
    await asUser(tree.folder, "commit", "--quiet", "--all", "--message=two");
    await infect("repo/sub");
    const { kind } = await mergeWorktree(tree.folder, { into: "main", message: "merge", who: WHO });
    expect([kind, await readFile(folder.at("repo/top.txt"), "utf8")]).toEqual(["fast-forward", "2\n"]);
    await writeFile(folder.at("repo/sub/a.txt"), "2\n");
    await expectProof();
  });
});
