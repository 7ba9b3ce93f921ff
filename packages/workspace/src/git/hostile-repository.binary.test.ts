import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, it, test } from "vitest";
import { removeInside } from "../inside/change-inside.ts";
import { listFiles } from "../list-files.ts";
import { removeTree } from "../remove-tree.ts";
import { findRepository, openRepository } from "./repository.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { findUnsaved } from "../worktrees/unsaved-work.ts";
import { createWorktree, removeWorktree } from "../worktrees/worktree.ts";
import { readWorktreePatch } from "../worktrees/worktree-patch.ts";

const ROUNDS = inject("soak") ? 20 : 2;

/** Runs JavaScript in another process again and again, like an agent at work, until it is disposed of. */
async function repeatedly(code: string): Promise<AsyncDisposable> {
  const script = `const fs = require("node:fs"); console.log("up");
    (function again() { try { ${code} } catch {} setImmediate(again); })();`;
  const child = spawn(process.execPath, ["--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

async function hostileRepository() {
  const folder = await temporaryFolder();
  const mark = folder.at("ran");
  const program = `touch ${mark}; cat`;
  const config = `[core]\n\trepositoryformatversion = 0\n[extensions]\n\tworktreeConfig = true\n`;
  const evil = `[filter "evil"]\n\tclean = "${program}"\n\tsmudge = "${program}"\n\trequired = true\n[diff "evil"]\n\ttextconv = "${program}"\n\tcommand = "${program}"\n[diff]\n\texternal = "${program}"\n[core]\n\tfsmonitor = "${program}"\n\thooksPath = ${folder.at("hooks")}\n`;
  for (const name of ["repo/sub", "repo"]) {
    await folder.write({ [`${name}/a.txt`]: "1\n", [`${name}/.gitattributes`]: "* filter=evil diff=evil\n" });
    await commitAll(folder.at(name), name);
  }
  return { folder, mark, config, evil };
}

test("a program that an agent adds to the settings while git works does not run", async () => {
  const { folder, mark, config, evil } = await hostileRepository();
  await using _ = folder;
  const worktree = await createWorktree({ repository: folder.at("repo"), into: folder.at("trees/t") });
  const places = [
    folder.at("repo/.git/config"),
    folder.at("repo/sub/.git/config"),
    folder.at("repo/.git/config.worktree"),
    folder.at("repo/.git/worktrees/t/config.worktree"),
  ];
  const writer = (paths: readonly string[]) => {
    const each = [config + evil, config].flatMap((text) => paths.map((path) => [path, text]));
    return repeatedly(each.map((args) => `fs.writeFileSync(...${JSON.stringify(args)});`).join(""));
  };
  await folder.write({ "repo/a.txt": "2\n", "repo/sub/a.txt": "2\n", "trees/t/a.txt": "2\n" });
  {
    await using _writer = await writer(places);
    for (let round = 0; round < ROUNDS; round += 1) {
      expect((await findUnsaved(folder.at("repo"))).uncommitted).toEqual(["a.txt", "sub"]);
      const { patch } = await readWorktreePatch(worktree.folder, worktree.commit);
      expect(patch).toContain("+2");
    }
  }
  {
    await using _writer = await writer(places.slice(0, 3));
    await removeWorktree(worktree.folder, { discard: true });
    const again = await createWorktree({ repository: folder.at("repo"), into: folder.at("trees/u") });
    expect(await readdir(again.folder)).toContain("a.txt");
  }
  expect(existsSync(mark)).toBe(false);
  // The same settings do run a program when a user's git reads them.
  await writeFile(places[0]!, config + evil);
  await asUser(folder.at("repo"), "add", "--all").catch(() => undefined);
  expect(existsSync(mark)).toBe(true);
});

describe("a repository that an agent has changed", () => {
  it("shows no files of a folder that core.worktree names", async () => {
    await using folder = await temporaryFolder();
    await folder.write({ "repo/mine.txt": "1", "other/secret.txt": "2" });
    await commitAll(folder.at("repo"), "first");
    await asUser(folder.at("repo"), "config", "core.worktree", folder.at("other"));
    expect(await listFiles(folder.at("repo"), performance.now() + 60_000)).toEqual(["mine.txt"]);
    expect((await findUnsaved(folder.at("repo"))).uncommitted).toEqual([]);
  });

  it("is not followed to another history by links or by a replaced .git file", async () => {
    await using folder = await temporaryFolder();
    await folder.write({ "other/secret.txt": "2", "linked/a": "1", "pointed/a": "1", "objects/a": "1" });
    for (const name of ["other", "objects"]) await commitAll(folder.at(name), name);
    await symlink(folder.at("other/.git"), folder.at("linked/.git"));
    await writeFile(folder.at("pointed/.git"), `gitdir: ${folder.at("other/.git")}\n`);
    await rm(folder.at("objects/.git/objects"), { recursive: true });
    await symlink(folder.at("other/.git/objects"), folder.at("objects/.git/objects"));
    for (const name of ["linked", "pointed", "objects"]) {
      await expect(openRepository(folder.at(name))).rejects.toMatchObject({ code: "forbidden" });
      expect(await findRepository(folder.at(name))).toBeUndefined();
    }
  });

  it("is not found as a bare repository among its files", async () => {
    await using folder = await temporaryFolder();
    await folder.write({ "repo/a.txt": "1" });
    await asUser(folder.path, "init", "--quiet", "--bare", folder.at("repo/bare"));
    expect(await findRepository(folder.at("repo/bare"))).toBeUndefined();
    await expect(openRepository(folder.at("repo/bare"))).rejects.toThrow("is a bare git repository");
  });
});

describe("removing a folder", () => {
  it("never follows a link that replaces a folder meanwhile", async () => {
    await using folder = await temporaryFolder();
    await folder.write({ "victim/keep.txt": "1", "victim/inner/keep.txt": "1" });
    const [inner, aside] = [folder.at("root/tree/d"), folder.at("aside")];
    const swap = `fs.renameSync(${JSON.stringify(inner)}, ${JSON.stringify(aside)});
      fs.symlinkSync(${JSON.stringify(folder.at("victim"))}, ${JSON.stringify(inner)});
      fs.rmSync(${JSON.stringify(aside)}, { recursive: true });`;
    await using _swapper = await repeatedly(swap);
    for (let round = 0; round < 40; round += 1) {
      const files = Array.from({ length: 10 }, (_, index) => [`root/tree/d/inner/${index}`, ""]);
      await folder.write(Object.fromEntries(files)).catch(() => undefined);
      await removeInside(folder.at("root"), "tree", { recursive: true }).catch(() => undefined);
      await removeTree(folder.at("root/tree")).catch(() => undefined);
      expect(existsSync(folder.at("victim/keep.txt")) && existsSync(folder.at("victim/inner/keep.txt"))).toBe(true);
    }
  });

  it("removes deep trees, read-only folders and links, and nothing behind them", async () => {
    await using folder = await temporaryFolder();
    await folder.write({ "kept/file": "1", "tree/a/b": "1" });
    let top = folder.at("deep");
    for (let depth = 0; depth < 150; depth += 1) {
      await mkdir(join(folder.path, "next"));
      if (depth > 0) await rename(top, folder.at("next/inner"));
      await rename(folder.at("next"), (top = folder.at("deep")));
    }
    await rename(top, folder.at("tree/deep"));
    await symlink(folder.at("kept"), folder.at("tree/link"));
    await symlink(folder.at("kept"), folder.at("link"));
    await removeTree(folder.at("tree"));
    await removeTree(folder.at("link"));
    await removeTree(folder.at("none"));
    expect(await readdir(folder.path)).toEqual(["kept"]);
    expect(await readdir(folder.at("kept"))).toEqual(["file"]);
  });
});
