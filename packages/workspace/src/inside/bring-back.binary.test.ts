import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { mergeWorktree, undoMerge } from "../worktrees/merge-worktree.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { applyPatch, readWorktreePatch } from "../worktrees/worktree-patch.ts";
import { createWorktree } from "../worktrees/worktree.ts";

const who = { name: "Ann", email: "ann@example.com" };
async function stage() {
  const tree = await temporaryFolder();
  await tree.write({ "repo/a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "repo/gone.txt": "g" });
  const first = await commitAll(tree.at("repo"), "first");
  const worktree = await createWorktree({ repository: tree.at("repo"), into: tree.at("trees/t") });
  const inRepo = (...args: string[]) => asUser(tree.at("repo"), ...args);
  return { ...tree, first, worktree, folder: worktree.folder, inRepo };
}

describe("mergeWorktree", () => {
  it("fast-forwards a checked-out branch, keeps untracked files, and can be undone", async () => {
    await using tree = await stage();
    await tree.write({ "trees/t/b.txt": "b", "repo/untracked": "mine" });
    const commit = await commitAll(tree.folder, "work");
    const wanted = { into: "main", message: "Merge", who };
    expect(await mergeWorktree(tree.folder, { ...wanted, dryRun: true })).toMatchObject({ kind: "fast-forward" });
    expect(await tree.inRepo("rev-parse", "main")).toBe(tree.first);
    const merge = await mergeWorktree(tree.folder, wanted);
    expect(merge).toEqual({ into: "main", kind: "fast-forward", before: tree.first, after: commit, commits: 1 });
    expect(await readFile(tree.at("repo/b.txt"), "utf8")).toBe("b");
    expect(await tree.inRepo("status", "--porcelain")).toBe("?? untracked");
    expect(await mergeWorktree(tree.folder, wanted)).toMatchObject({ kind: "nothing" });
    await undoMerge(tree.folder, merge);
    expect(await tree.inRepo("rev-parse", "main")).toBe(tree.first);
    expect(existsSync(tree.at("repo/b.txt"))).toBe(false);
    expect(existsSync(tree.at("repo/untracked"))).toBe(true);
    await expect(undoMerge(tree.folder, merge)).rejects.toMatchObject({ code: "conflict" });
  });

  it("creates a merge commit for diverged branches, also for one not checked out", async () => {
    await using tree = await stage();
    await tree.inRepo("checkout", "--quiet", "-b", "elsewhere");
    await tree.write({ "trees/t/b.txt": "b" });
    const theirs = await commitAll(tree.folder, "work");
    await tree.inRepo("checkout", "--quiet", "main");
    await tree.write({ "repo/c.txt": "c" });
    const ours = await commitAll(tree.at("repo"), "other work");
    await tree.inRepo("checkout", "--quiet", "elsewhere");
    const { after, kind } = await mergeWorktree(tree.folder, { into: "main", message: "Merge it", who });
    expect(kind).toBe("merge");
    expect(await tree.inRepo("log", "-1", "--format=%P %an %s", "main")).toBe(`${ours} ${theirs} Ann Merge it`);
    expect(await tree.inRepo("rev-parse", "main")).toBe(after);
    expect(await tree.inRepo("symbolic-ref", "--short", "HEAD")).toBe("elsewhere");
    expect(await tree.inRepo("ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt\nc.txt\ngone.txt");
  });

  it("runs no merge driver of the repository, but reports a conflict", async () => {
    await using tree = await stage();
    await tree.inRepo("config", "merge.evil.driver", `touch '${tree.at("ran")}'; true`);
    await tree.write({ "trees/t/a.txt": "theirs\n", "trees/t/.gitattributes": "* merge=evil\n" });
    await commitAll(tree.folder, "work");
    await tree.write({ "repo/a.txt": "ours\n", "repo/.git/info/attributes": "* merge=evil\n" });
    const ours = await commitAll(tree.at("repo"), "other work");
    for (const dryRun of [true, false]) {
      await expect(mergeWorktree(tree.folder, { into: "main", message: "Merge", who, dryRun })).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining("a.txt"),
      });
    }
    expect(existsSync(tree.at("ran"))).toBe(false);
    expect(await tree.inRepo("rev-parse", "main")).toBe(ours);
  });

  it("rejects conflicts by name, a dirty branch, and overwriting files, without changes", async () => {
    await using tree = await stage();
    await tree.write({ "trees/t/a.txt": "theirs\n", "trees/t/new.txt": "n" });
    await commitAll(tree.folder, "work");
    const merge = () => mergeWorktree(tree.folder, { into: "main", message: "Merge", who });
    await tree.write({ "repo/new.txt": "untracked, and mine" });
    await expect(merge()).rejects.toMatchObject({ code: "conflict" });
    expect(await readFile(tree.at("repo/new.txt"), "utf8")).toBe("untracked, and mine");
    await tree.write({ "repo/gone.txt": "changed" });
    await expect(merge()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("gone.txt") });
    await tree.write({ "repo/a.txt": "ours\n" });
    const ours = await commitAll(tree.at("repo"), "other work");
    await expect(merge()).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/a\.txt.*new\.txt/),
    });
    expect(await tree.inRepo("rev-parse", "main")).toBe(ours);
    expect(await tree.inRepo("status", "--porcelain")).toBe("");
    const nowhere = mergeWorktree(tree.folder, { into: "no-such", message: "Merge", who });
    await expect(nowhere).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("the patch of a worktree", () => {
  it("contains all committed and uncommitted changes, and leaves the worktree's index unchanged", async () => {
    await using tree = await stage();
    await tree.write({ "trees/t/loose": "copied" });
    await tree.write({ "trees/t/committed.txt": "c\n" });
    await asUser(tree.folder, "add", "committed.txt");
    await asUser(tree.folder, "commit", "--quiet", "--message", "work");
    await tree.write({ "trees/t/new dir/ñ.txt": "n\n", "trees/t/binary": new Uint8Array([0, 1, 2, 255]) });
    await asUser(tree.folder, "rm", "--quiet", "gone.txt");
    const before = await readFile(tree.at("repo/.git/worktrees/t/index"));
    const prepared = { loose: await asUser(tree.folder, "hash-object", "loose") };
    const { patch, files } = await readWorktreePatch(tree.folder, tree.first, prepared);
    expect(files.map(({ path }) => path).toSorted()).toEqual(["binary", "committed.txt", "gone.txt", "new dir/ñ.txt"]);
    expect(await readFile(tree.at("repo/.git/worktrees/t/index"))).toEqual(before);

    const status = await tree.inRepo("status", "--porcelain");
    expect((await applyPatch(tree.at("repo"), patch, { dryRun: true })).files).toHaveLength(4);
    expect(await tree.inRepo("status", "--porcelain")).toBe(status);
    const { undo } = await applyPatch(tree.at("repo"), patch);
    expect(await readFile(tree.at("repo/binary"))).toEqual(Buffer.from([0, 1, 2, 255]));
    expect(existsSync(tree.at("repo/gone.txt"))).toBe(false);
    // Nothing is staged.
    expect(await tree.inRepo("diff", "--cached", "--name-only")).toBe("");
    await applyPatch(tree.at("repo"), undo);
    expect(await tree.inRepo("status", "--porcelain")).toBe("");
  });

  it("merges with later changes, staged or not, and can be undone without them", async () => {
    await using tree = await stage();
    await tree.write({ "trees/t/a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n" });
    await tree.write({ "repo/a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n9\n" });
    await tree.inRepo("add", "a.txt");
    await tree.write({ "repo/a.txt": "one\ntwo\n3\n4\n5\n6\n7\n8\n9\n" });
    const staged = await tree.inRepo("diff", "--cached");
    const { patch } = await readWorktreePatch(tree.folder, tree.first);
    const { undo } = await applyPatch(tree.at("repo"), patch);
    expect(await readFile(tree.at("repo/a.txt"), "utf8")).toBe("one\ntwo\n3\n4\n5\n6\n7\n8\nnine\n");
    expect(await tree.inRepo("diff", "--cached")).toBe(staged);
    await applyPatch(tree.at("repo"), undo);
    expect(await readFile(tree.at("repo/a.txt"), "utf8")).toBe("one\ntwo\n3\n4\n5\n6\n7\n8\n9\n");
  });

  it("uses a three-way merge; a conflict changes nothing and names the files", async () => {
    await using tree = await stage();
    await tree.write({ "trees/t/a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "trees/t/new.txt": "n\n" });
    const { patch } = await readWorktreePatch(tree.folder, tree.first);
    // The context lines of the change differ by now.
    await tree.write({ "repo/a.txt": "1\n2\n3\n4\n5\nsix\n7\n8\n9\n" });
    await applyPatch(tree.at("repo"), patch);
    expect(await readFile(tree.at("repo/a.txt"), "utf8")).toBe("1\n2\n3\n4\n5\nsix\n7\n8\nnine\n");

    await tree.inRepo("checkout", "--quiet", "--", ".");
    await tree.inRepo("clean", "--quiet", "-f");
    await tree.write({ "repo/a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nNEUN\n" });
    const status = await tree.inRepo("status", "--porcelain");
    for (const dryRun of [true, false]) {
      await expect(applyPatch(tree.at("repo"), patch, { dryRun })).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining("a.txt"),
      });
    }
    expect(await tree.inRepo("status", "--porcelain")).toBe(status);
    expect(await readFile(tree.at("repo/a.txt"), "utf8")).toContain("NEUN\n");
    expect(existsSync(tree.at("repo/new.txt"))).toBe(false);
  });
});
