import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.ts";
import { createWorktree, removeWorktree } from "./worktree.ts";

async function repository(): Promise<TemporaryFolder & { first: string }> {
  const tree = await temporaryFolder();
  await tree.write({ "repo/a.txt": "one\n" });
  const first = await commitAll(tree.at("repo"), "first");
  return { ...tree, first };
}

describe("createWorktree", () => {
  it("adds a worktree on its own branch, and leaves everything else unchanged", async () => {
    await using tree = await repository();
    // Work in progress: staged, changed and new files.
    await tree.write({ "repo/staged.txt": "s", "repo/new.txt": "n" });
    await asUser(tree.at("repo"), "add", "staged.txt");
    await tree.write({ "repo/a.txt": "changed\n" });
    const before = [await asUser(tree.at("repo"), "status", "--porcelain"), await readFile(tree.at("repo/.git/index"))];
    const worktree = await createWorktree({ repository: tree.at("repo"), into: tree.at("state/trees/sesn_1") });
    expect(worktree).toEqual({
      folder: tree.at("state/trees/sesn_1"),
      repository: tree.at("repo"),
      branch: "tandem/sesn_1",
      from: "main",
      commit: tree.first,
    });
    expect(await readFile(tree.at("state/trees/sesn_1/a.txt"), "utf8")).toBe("one\n");
    expect(await asUser(worktree.folder, "symbolic-ref", "HEAD")).toBe("refs/heads/tandem/sesn_1");
    expect((await stat(tree.at("state/trees"))).mode & 0o777).toBe(0o700);
    const after = [await asUser(tree.at("repo"), "status", "--porcelain"), await readFile(tree.at("repo/.git/index"))];
    expect(after).toEqual(before);
    expect(await asUser(tree.at("repo"), "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  it("starts from the given branch, tag or commit", async () => {
    await using tree = await repository();
    await asUser(tree.at("repo"), "tag", "v1");
    await asUser(tree.at("repo"), "update-ref", "refs/remotes/origin/theirs", tree.first);
    await tree.write({ "repo/a.txt": "two\n" });
    const second = await commitAll(tree.at("repo"), "second");
    await asUser(tree.at("repo"), "branch", "feature/old", tree.first);
    const start = async (branch: string) =>
      (await createWorktree({ repository: tree.at("repo"), into: tree.at(`t-${branch.replaceAll("/", "-")}`), branch }))
        .commit;
    for (const name of ["feature/old", "v1", "theirs", "origin/theirs", tree.first, tree.first.slice(0, 10)]) {
      expect(await start(name), name).toBe(tree.first);
    }
    expect(await start("main")).toBe(second);
    expect(await asUser(tree.at("repo"), "rev-parse", "main")).toBe(second);
  });

  it("starts from the checked-out commit of a linked worktree", async () => {
    await using tree = await repository();
    await asUser(tree.at("repo"), "worktree", "add", "--quiet", "-b", "side", tree.at("side"));
    await tree.write({ "side/b.txt": "" });
    await asUser(tree.at("side"), "add", "--all");
    await asUser(tree.at("side"), "commit", "--quiet", "--message", "side");
    const { commit } = await createWorktree({ repository: tree.at("side"), into: tree.at("t") });
    expect(commit).toBe(await asUser(tree.at("side"), "rev-parse", "HEAD"));
  });

  it.each([
    "--upload-pack=touch /tmp/x",
    "-b",
    "--orphan",
    "--",
    "",
    "a b",
    "a..b",
    "a~1",
    "HEAD^",
    "@{-1}",
    "main@{1}",
    ":/first",
    "a\nb",
    "a\0b",
    "a.lock",
    "/main",
    "main/",
    "$(touch x)",
  ])("rejects the branch %j without changes", async (branch) => {
    await using tree = await repository();
    const attempt = createWorktree({ repository: tree.at("repo"), into: tree.at("trees/t"), branch });
    const message = `${JSON.stringify(branch)} cannot be the name of a git branch.`;
    await expect(attempt).rejects.toMatchObject({ code: "invalid_request", message });
    expect(await asUser(tree.at("repo"), "branch", "--list", "--format=%(refname:short)")).toBe("main");
    expect(await readdir(tree.path)).toEqual(["repo"]);
  });

  it("names a missing branch", async () => {
    await using tree = await repository();
    const attempt = createWorktree({ repository: tree.at("repo"), into: tree.at("t"), branch: "nowhere" });
    await expect(attempt).rejects.toMatchObject({
      code: "invalid_request",
      message: `The git repository ${tree.at("repo")} has no branch, tag or commit nowhere.`,
    });
  });

  it("explains what is wrong with the repository", async () => {
    await using tree = await repository();
    await tree.write({ "plain/file": "", "repo/sub/file": "" });
    await asUser(tree.path, "init", "--quiet", "empty");
    await asUser(tree.path, "init", "--quiet", "--bare", "bare");
    const attempt = (name: string) => createWorktree({ repository: tree.at(name), into: tree.at("t") });
    await expect(attempt("plain")).rejects.toMatchObject({
      code: "invalid_request",
      message: `${tree.at("plain")} is not a git repository.`,
    });
    await expect(attempt("empty")).rejects.toMatchObject({
      code: "invalid_request",
      message: `The git repository ${tree.at("empty")} is empty: it has no commit to start from.`,
    });
    await expect(attempt("bare")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/bare/),
    });
    await expect(attempt("gone")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/does not exist/),
    });
    await expect(attempt("repo/sub")).rejects.toMatchObject({
      code: "invalid_request",
      message: `${tree.at("repo/sub")} is not the top folder of its git repository; ${tree.at("repo")} is.`,
    });
    expect(existsSync(tree.at("t"))).toBe(false);
  });

  it.each(["file", "link", "commondir"])("does not read another repository through a .git %s", async (kind) => {
    await using tree = await repository();
    await tree.write({ "allowed/file": "" });
    const target = tree.at("repo/.git");
    if (kind === "link") await symlink(target, tree.at("allowed/.git"));
    if (kind === "file") await writeFile(tree.at("allowed/.git"), `gitdir: ${target}\n`);
    if (kind === "commondir") {
      await tree.write({
        "allowed/.git/HEAD": await readFile(`${target}/HEAD`, "utf8"),
        "allowed/.git/commondir": `${target}\n`,
        "allowed/.git/gitdir": `${tree.at("allowed/.git")}\n`,
      });
    }
    const attempt = createWorktree({ repository: tree.at("allowed"), into: tree.at("t") });
    await expect(attempt).rejects.toMatchObject({ code: "forbidden" });
    expect(existsSync(tree.at("t"))).toBe(false);
  });

  it("rejects an existing target and keeps it", async () => {
    await using tree = await repository();
    await tree.write({ "there/mine": "mine" });
    const attempt = (into: string) => createWorktree({ repository: tree.at("repo"), into: tree.at(into) });
    await expect(attempt("there")).rejects.toMatchObject({ code: "conflict" });
    await asUser(tree.at("repo"), "branch", "tandem/one");
    await expect(attempt("one")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/tandem\/one/),
    });
    await asUser(tree.at("repo"), "branch", "-m", "tandem/one", "tandem");
    await expect(attempt("one")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/a branch tandem already/),
    });
    expect(await readFile(tree.at("there/mine"), "utf8")).toBe("mine");
    expect(await asUser(tree.at("repo"), "rev-parse", "tandem")).toBe(tree.first);
  });

  it("runs no hook and no filter of the repository", async () => {
    await using tree = await repository();
    const script = `#!/bin/sh\ntouch ${tree.at("ran")}\ncat\n`;
    await writeFile(tree.at("repo/.git/hooks/post-checkout"), script, { mode: 0o755 });
    await writeFile(tree.at("repo/.git/hooks/reference-transaction"), script, { mode: 0o755 });
    await writeFile(tree.at("script"), script, { mode: 0o755 });
    await tree.write({ "repo/.gitattributes": "*.txt filter=a.b=c\n" });
    await asUser(tree.at("repo"), "add", "--all");
    await asUser(tree.at("repo"), "commit", "--quiet", "--message", "attributes");
    await rm(tree.at("ran"), { force: true });
    const config = await readFile(tree.at("repo/.git/config"), "utf8");
    const filter = ["smudge", "clean", "process"].map((kind) => `\t${kind} = ${tree.at("script")}\n`).join("");
    await writeFile(tree.at("repo/.git/config"), `${config}[filter "a.b=c"]\n${filter}\trequired = true\n`);
    const { folder } = await createWorktree({ repository: tree.at("repo"), into: tree.at("t") });
    expect(await readFile(tree.at("t/a.txt"), "utf8")).toBe("one\n");
    // Touched, so that git compares contents again.
    await writeFile(tree.at("t/a.txt"), "one\n");
    await removeWorktree(folder);
    expect(existsSync(tree.at("ran"))).toBe(false);
  });

  it("leaves nothing behind if git fails halfway", async () => {
    await using tree = await repository();
    const blob = await asUser(tree.at("repo"), "rev-parse", "HEAD:a.txt");
    await rm(tree.at("repo/.git/objects", blob.slice(0, 2), blob.slice(2)));
    const attempt = createWorktree({ repository: tree.at("repo"), into: tree.at("trees/t") });
    await expect(attempt).rejects.toMatchObject({ code: "conflict" });
    expect(existsSync(tree.at("trees/t"))).toBe(false);
    expect(await asUser(tree.at("repo"), "branch", "--list", "tandem/*")).toBe("");
    expect(await asUser(tree.at("repo"), "worktree", "list")).not.toContain("trees");
  });
});

describe("removeWorktree", () => {
  const added = async (tree: TemporaryFolder) =>
    (await createWorktree({ repository: tree.at("repo"), into: tree.at("trees/t") })).folder;
  const branches = (tree: TemporaryFolder) =>
    asUser(tree.at("repo"), "branch", "--list", "--format=%(refname:short)", "tandem/*");

  it("removes a worktree without own work, with its branch", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await removeWorktree(folder);
    expect(existsSync(folder)).toBe(false);
    expect(await branches(tree)).toBe("");
    expect(await asUser(tree.at("repo"), "worktree", "list", "--porcelain")).not.toContain("trees");
    // Idempotent.
    await removeWorktree(folder);
  });

  it.each([
    ["changed", { "trees/t/a.txt": "more\n" }],
    ["new", { "trees/t/deep/new.txt": "" }],
  ])("keeps work that is %s, unless it may be discarded", async (_, files: Record<string, string>) => {
    await using tree = await repository();
    const folder = await added(tree);
    await tree.write(files);
    await expect(removeWorktree(folder)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/not committed/),
    });
    expect(existsSync(tree.at(Object.keys(files)[0]!))).toBe(true);
    await removeWorktree(folder, { discard: true });
    expect(existsSync(folder)).toBe(false);
    expect(await branches(tree)).toBe("");
  });

  it("keeps staged work", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await asUser(folder, "rm", "--quiet", "a.txt");
    await expect(removeWorktree(folder)).rejects.toMatchObject({ code: "conflict" });
  });

  it("keeps a branch with its own commits", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await tree.write({ "trees/t/b.txt": "b" });
    const commit = await commitAll(folder, "work");
    await removeWorktree(folder);
    expect(await asUser(tree.at("repo"), "rev-parse", "tandem/t")).toBe(commit);
  });

  it("keeps commits without a branch, unless they may be discarded", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await asUser(folder, "checkout", "--quiet", "--detach");
    await tree.write({ "trees/t/b.txt": "b" });
    await commitAll(folder, "work");
    await expect(removeWorktree(folder)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/on no branch/),
    });
    await removeWorktree(folder, { discard: true });
    expect(existsSync(folder)).toBe(false);
  });

  it("never removes a branch of the user", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await asUser(folder, "checkout", "--quiet", "-b", "mine");
    await removeWorktree(folder);
    expect(await asUser(tree.at("repo"), "rev-parse", "mine")).toBe(tree.first);
  });

  it("never removes a repository, a plain folder, or a fake worktree", async () => {
    await using tree = await repository();
    const folder = await added(tree);
    await tree.write({ "plain/file": "" });
    await tree.write({ "fake/file": "" });
    await writeFile(tree.at("fake/.git"), await readFile(tree.at("trees/t/.git")));
    for (const discard of [false, true]) {
      await expect(removeWorktree(tree.at("repo"), { discard })).rejects.toMatchObject({ code: "forbidden" });
      await expect(removeWorktree(tree.at("plain"), { discard })).rejects.toMatchObject({ code: "invalid_request" });
      await expect(removeWorktree(tree.at("fake"), { discard })).rejects.toMatchObject({ code: "forbidden" });
    }
    for (const kept of ["repo/a.txt", "plain/file", "fake/file", "trees/t/a.txt"]) {
      expect(existsSync(tree.at(kept)), kept).toBe(true);
    }
    await removeWorktree(folder);
  });
});
