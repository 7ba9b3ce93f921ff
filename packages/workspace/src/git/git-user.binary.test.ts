import { existsSync } from "node:fs";
import { chmod, chown, lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cloneRepository, findClone } from "./clone-repository.ts";
import { copyIncluded } from "../worktrees/copy-included.ts";
import { giveTree } from "../give-tree.ts";
import { listFiles } from "../list-files.ts";
import { mergeWorktree } from "../worktrees/merge-worktree.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { findUnsaved } from "../worktrees/unsaved-work.ts";
import { createWorktree, removeWorktree } from "../worktrees/worktree.ts";
import { applyPatch, readWorktreePatch } from "../worktrees/worktree-patch.ts";

const USER = { uid: 2_000_000_001, gid: 2_000_000_000 };
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

/** The repository of a tenant, whose settings name programs, and a git that notes the user that runs it. */
async function stage() {
  const folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  const [log, mark] = [folder.at("log"), folder.at("marks/ran")];
  await folder.write({ log: "", "marks/.keep": "" });
  await chmod(log, 0o666);
  await chmod(folder.at("marks"), 0o777);
  const path = process.env["PATH"] ?? "";
  await folder.write({ "bin/git": `#!/bin/sh\necho "$(id -u) $*" >> ${log}\nPATH=${path}\nexec git "$@"\n` });
  await chmod(folder.at("bin/git"), 0o755);

  await folder.write({ "repo/a.txt": "1\n", "repo/.gitattributes": "*.txt filter=evil diff=evil\n", "repo/.env": "x" });
  await folder.write({ "repo/.gitignore": ".env\n" });
  await commitAll(folder.at("repo"), "first");
  const program = `id -u >> ${mark}; cat`;
  const evil = `[filter "evil"]\n\tclean = "${program}"\n\tsmudge = "${program}"\n[diff "evil"]\n\ttextconv = "${program}"\n[core]\n\tfsmonitor = "${program}"\n\thooksPath = ${folder.at("hooks")}\n\tsshCommand = "${program}"\n`;
  await writeFile(folder.at("repo/.git/config"), `[core]\n\trepositoryformatversion = 0\n${evil}`);
  for (const name of ["post-checkout", "post-index-change", "reference-transaction"]) {
    await folder.write({ [`hooks/${name}`]: `#!/bin/sh\nid -u >> ${mark}\n` });
    await chmod(folder.at("hooks", name), 0o755);
  }
  await mkdir(folder.at("state"));
  await chmod(folder.at("state"), 0o711);
  await giveTree(folder.at("repo"), USER);
  vi.stubEnv("PATH", [folder.at("bin"), path].join(delimiter));
  const users = async (): Promise<string[]> => {
    const lines = (await readFile(log, "utf8")).trim().split("\n");
    return [...new Set(lines.map((line) => line.split(" ")[0]!))];
  };
  return { folder, mark, users };
}

afterEach(() => vi.unstubAllEnvs());

describe.skipIf(!isRoot)(`git in the repository of a tenant's OS user${isRoot ? "" : " (needs root)"}`, () => {
  it("runs as that user for worktrees, patches and merges, and runs no program of the settings", async () => {
    const { folder, mark, users } = await stage();
    await using _ = folder;
    const { folder: tree, commit } = await createWorktree({
      repository: folder.at("repo"),
      into: folder.at("state/t"),
    });
    expect((await copyIncluded(folder.at("repo"), tree, [".env"])).files).toEqual([".env"]);
    await writeFile(join(tree, "a.txt"), "2\n");
    expect((await findUnsaved(tree)).uncommitted).toEqual(["a.txt"]);
    expect(await listFiles(tree, performance.now() + 60_000)).toContain("a.txt");
    const { patch } = await readWorktreePatch(tree, commit);
    expect(patch).toContain("+2");
    expect((await applyPatch(folder.at("repo"), patch)).files).toEqual(["a.txt"]);
    const who = { name: "Test", email: "test@example.com" };
    await mergeWorktree(tree, { into: "main", message: "merge", who });
    expect((await lstat(folder.at("repo/a.txt"))).uid).toBe(USER.uid);
    await removeWorktree(tree, { discard: true });
    expect(existsSync(tree)).toBe(false);
    expect(await users()).toEqual([String(USER.uid)]);
    expect(existsSync(mark)).toBe(false);
    // The same settings do run a program when a user's git reads them.
    await asUser(folder.at("repo"), "-c", "safe.directory=*", "status").catch(() => undefined);
    expect(existsSync(mark)).toBe(true);
  });

  it("runs as that user for clones, which belong to it", async () => {
    const { folder, mark, users } = await stage();
    await using _ = folder;
    await mkdir(folder.at("session"));
    await chown(folder.at("session"), USER.uid, USER.gid);
    const clone = { root: folder.at("session"), path: "sub", owner: "one", variables: {}, maxBytes: 1e9 };
    const remote = { url: folder.at("repo"), protocol: "file" } as const;
    const { commit } = await cloneRepository({ ...clone, scratch: folder.at("state"), remote, timeoutMs: 60_000 });
    expect((await lstat(folder.at("session/sub/a.txt"))).uid).toBe(USER.uid);
    expect(await findClone(folder.at("session"), "sub", "one")).toBe(commit);
    expect(await users()).toEqual([String(USER.uid)]);
    expect(existsSync(mark)).toBe(false);
  });

  it("is not root if the tenant closes its folder", async () => {
    const { folder, users } = await stage();
    await using _ = folder;
    const { folder: tree, commit } = await createWorktree({
      repository: folder.at("repo"),
      into: folder.at("state/t"),
    });
    await chmod(folder.at("repo/.git"), 0o000);
    await expect(readWorktreePatch(tree, commit)).rejects.toMatchObject({ code: "git_failed" });
    expect(await users()).toEqual([String(USER.uid)]);
  });

  it("stays with the server where that user cannot reach the server's folder", async () => {
    const { folder, users } = await stage();
    await using _ = folder;
    await chmod(folder.at("state"), 0o700);
    const { folder: tree } = await createWorktree({ repository: folder.at("repo"), into: folder.at("state/t") });
    expect((await findUnsaved(tree)).uncommitted).toEqual([]);
    expect(await users()).toContain("0");
  });
});
