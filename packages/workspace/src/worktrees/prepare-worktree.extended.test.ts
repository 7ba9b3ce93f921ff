import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { copyIncluded } from "./copy-included.ts";
import { PortBlocks } from "./port-blocks.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { findUnsaved, isSaved, readPrepared } from "./unsaved-work.ts";
import { createWorktree, removeWorktree } from "./worktree.ts";

async function repository() {
  const tree = await temporaryFolder();
  await tree.write({ "repo/a.txt": "one\n", "repo/.gitignore": ".env*\nsecrets/\nbig/\n" });
  await commitAll(tree.at("repo"), "first");
  const add = () => createWorktree({ repository: tree.at("repo"), into: tree.at("trees/t") });
  return { ...tree, add };
}

describe("copyIncluded", () => {
  it("copies exactly the untracked files that match the patterns", async () => {
    await using tree = await repository();
    await tree.write({
      "repo/.env": "KEY=1\n",
      "repo/.env.local": "LOCAL\n",
      "repo/deep/er/.env": "DEEP\n",
      "repo/secrets/a.pem": "a",
      "repo/secrets/b.pem": "b",
      "repo/loose.txt": "not ignored",
      "repo/other": "stays",
      "repo/.worktreeinclude": "# what worktrees need\nsecrets/*\n!secrets/b.pem\n/loose.txt\na.txt\n",
    });
    await writeFile(tree.at("repo/.env"), "KEY=1\n", { mode: 0o750 });
    const { folder } = await tree.add();
    // A changed tracked file belongs to its branch and is not copied.
    await tree.write({ "repo/a.txt": "changed\n" });
    const { files, skipped } = await copyIncluded(tree.at("repo"), folder, [".env"]);
    expect(files.toSorted()).toEqual([".env", "deep/er/.env", "loose.txt", "secrets/a.pem"]);
    expect(skipped).toEqual([]);
    expect(await readFile(`${folder}/.env`, "utf8")).toBe("KEY=1\n");
    expect(await readFile(`${folder}/a.txt`, "utf8")).toBe("one\n");
    expect((await readdir(folder)).toSorted()).toEqual([
      ".env",
      ".git",
      ".gitignore",
      "a.txt",
      "deep",
      "loose.txt",
      "secrets",
    ]);
  });

  it("follows no links out, when reading or writing", async () => {
    await using tree = await repository();
    await tree.write({ "outside/key": "secret", "repo/real/inner": "in", "repo/.env": "E" });
    await symlink(tree.at("outside/key"), tree.at("repo/absolute"));
    await symlink("../outside/key", tree.at("repo/relative"));
    await symlink("real/inner", tree.at("repo/within"));
    await symlink(tree.at("outside"), tree.at("repo/folder"));
    await symlink(tree.at("outside/key"), tree.at("repo/.worktreeinclude"));
    const { folder } = await tree.add();
    await expect(copyIncluded(tree.at("repo"), folder, ["*"])).rejects.toMatchObject({ code: "forbidden" });
    await rm(tree.at("repo/.worktreeinclude"));
    // In the worktree, a parent of a copied file is a link out.
    await mkdir(tree.at("repo/sub"));
    await tree.write({ "repo/sub/new": "n" });
    await symlink(tree.at("outside"), `${folder}/sub`);
    const { files, skipped } = await copyIncluded(tree.at("repo"), folder, ["*", "../outside/*", "/etc/passwd"]);
    expect(files.toSorted()).toEqual([".env", "real/inner", "within"]);
    expect(skipped.map(({ path }) => path).toSorted()).toEqual(["absolute", "folder", "relative", "sub/new"]);
    expect(await readlink(`${folder}/within`)).toBe("real/inner");
    expect(await readdir(tree.at("outside"))).toEqual(["key"]);
  });

  it("rejects too many files", async () => {
    await using tree = await repository();
    await mkdir(tree.at("repo/big"));
    const names = Array.from({ length: 10_001 }, (_, index) => index);
    for (let from = 0; from < names.length; from += 500) {
      await Promise.all(names.slice(from, from + 500).map((name) => writeFile(tree.at(`repo/big/${name}`), "")));
    }
    const { folder } = await tree.add();
    await expect(copyIncluded(tree.at("repo"), folder, ["big/"])).rejects.toMatchObject({ code: "too_large" });
  });
});

// Below the ports that systems assign by themselves: another test could get one of those at any time.
describe("PortBlocks", () => {
  it("assigns each folder its own ports, also concurrently, and frees them", async () => {
    await using tree = await temporaryFolder();
    const wanted = { from: 22_000, size: 5 };
    const folders = Array.from({ length: 8 }, (_, index) => tree.at(`t${index}`));
    await Promise.all(folders.map((folder) => mkdir(folder)));
    const blocks = await Promise.all(folders.map((folder) => new PortBlocks(tree.at("ports")).take(folder, wanted)));
    const ports = blocks.flatMap(({ from, size }) => Array.from({ length: size }, (_, index) => from + index));
    expect(new Set(ports).size).toBe(40);
    const shared = new PortBlocks(tree.at("ports"));
    // One is freed explicitly, and one whose folder is gone.
    await shared.free(folders[0]!);
    const first = Math.min(...blocks.map(({ from }) => from));
    await rm(folders[blocks.findIndex(({ from }) => from === first)]!, { recursive: true });
    await mkdir(tree.at("new"));
    const again = await shared.take(tree.at("new"), wanted);
    expect([first, blocks[0]!.from]).toContain(again.from);
  });

  it("skips ports in use, and never overlaps blocks of another size", async () => {
    await using tree = await temporaryFolder();
    await Promise.all(["a", "b", "c"].map((name) => mkdir(tree.at(name))));
    const server = createServer().listen(23_003, "127.0.0.1");
    await once(server, "listening");
    try {
      const blocks = new PortBlocks(tree.at("ports"));
      expect(await blocks.take(tree.at("a"), { from: 23_000, size: 10 })).toEqual({ from: 23_010, size: 10 });
      expect(await blocks.take(tree.at("b"), { from: 23_015, size: 3 })).toEqual({ from: 23_021, size: 3 });
    } finally {
      server.close();
    }
    const none = new PortBlocks(tree.at("ports")).take(tree.at("c"), { from: 65_530, size: 10 });
    await expect(none).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("findUnsaved", () => {
  it("finds uncommitted changes, unique commits and stashes, but not the prepared files", async () => {
    await using tree = await repository();
    const { folder } = await tree.add();
    await tree.write({ "trees/t/loose.txt": "copied", "trees/t/a.txt": "by setup\n" });
    const prepared = await readPrepared(folder);
    expect(Object.keys(prepared).toSorted()).toEqual(["a.txt", "loose.txt"]);
    expect(isSaved(await findUnsaved(folder, prepared))).toBe(true);

    await tree.write({ "trees/t/loose.txt": "edited", "trees/t/new file": "n" });
    expect((await findUnsaved(folder, prepared)).uncommitted.toSorted()).toEqual(["loose.txt", "new file"]);
    await expect(removeWorktree(folder, { prepared })).rejects.toMatchObject({ code: "conflict" });

    await asUser(folder, "stash", "--include-untracked", "--quiet");
    expect(await findUnsaved(folder, {})).toMatchObject({ uncommitted: [], commits: 0, stashes: 1 });
    await asUser(folder, "stash", "drop", "--quiet");
    await tree.write({ "trees/t/b.txt": "b" });
    const commit = await commitAll(folder, "work");
    expect(await findUnsaved(folder)).toEqual({ uncommitted: [], commits: 1, stashes: 0 });
    await asUser(tree.at("repo"), "branch", "kept", commit);
    expect(isSaved(await findUnsaved(folder))).toBe(true);
  });

  it("removes a worktree that is as prepared", async () => {
    await using tree = await repository();
    const { folder } = await tree.add();
    await tree.write({ "trees/t/loose.txt": "copied" });
    await removeWorktree(folder, { prepared: await readPrepared(folder) });
    expect(existsSync(folder)).toBe(false);
  });
});
