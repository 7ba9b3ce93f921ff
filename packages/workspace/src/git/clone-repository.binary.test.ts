import { existsSync, watch } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cloneRepository, findClone, type RepositoryClone } from "./clone-repository.ts";
import { git } from "./git.ts";
import { startGitServer, type GitServer } from "../testing/git-server.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.ts";

const TOKEN = "ghp_plum";
let server: GitServer;
let folder: TemporaryFolder;
let first: string;
beforeEach(async () => {
  [server, folder] = await Promise.all([startGitServer(TOKEN), temporaryFolder()]);
  first = await commit("readme.md", "hello\n");
  await mkdir(folder.at("root"));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Commits a file to a branch of the server's repository. */
async function commit(name: string, text: string, branch = "main"): Promise<string> {
  const bare = [`--git-dir=${server.path}`];
  const blob = (await git(folder.path, [...bare, "hash-object", "-w", "--stdin"], { input: text })).trim();
  const tree = (await git(folder.path, [...bare, "mktree"], { input: `100644 blob ${blob}\t${name}\n` })).trim();
  const settings = { "user.name": "Tess", "user.email": "tess@example.com" };
  const made = (await git(folder.path, [...bare, "commit-tree", tree], { input: "c\n", settings })).trim();
  await git(folder.path, [...bare, "update-ref", `refs/heads/${branch}`, made]);
  return made;
}

const clone = (over: Partial<RepositoryClone> = {}) =>
  cloneRepository({
    root: folder.at("root"),
    path: "shop",
    scratch: folder.at("scratch"),
    owner: "sesrsc_1",
    remote: { url: server.url, protocol: "http", token: { origin: server.origin, secret: TOKEN } },
    variables: {},
    timeoutMs: 30_000,
    maxBytes: 10 * 1024 * 1024,
    ...over,
  });

const filesIn = async (path: string) =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test("clones with a token that stays nowhere, and without hooks", async () => {
  expect(await clone()).toEqual({ commit: first });
  const shop = folder.at("root/shop");
  expect(await readFile(join(shop, "readme.md"), "utf8")).toBe("hello\n");
  expect(existsSync(join(shop, ".git/hooks"))).toBe(false);
  for (const path of await filesIn(folder.at("root"))) {
    expect((await readFile(path)).includes(TOKEN), path).toBe(false);
  }
  expect(await findClone(folder.at("root"), "shop", "sesrsc_1")).toBe(first);
  expect(await findClone(folder.at("root"), "shop", "sesrsc_2")).toBeUndefined();
  expect(await readdir(folder.at("scratch"))).toEqual([]);
});

test("a session in the same folder sees the clone only when it is whole", async () => {
  for (let count = 0; count < 20; count += 1) await commit(`file-${count}`, "x".repeat(10_000), `b${count}`);
  const seen = new Set<string>();
  const watcher = watch(folder.at("root"), { recursive: true }, (_, name) => {
    if (name?.endsWith("config.lock") || name?.endsWith("index.lock")) seen.add(name);
  });
  await clone();
  watcher.close();
  // With a lock there, it could change settings before the checkout, which would run programs.
  expect([...seen]).toEqual([]);
});

test("checks out a branch or a commit", async () => {
  const second = await commit("feature.md", "new\n", "feature");
  expect(await clone({ checkout: { type: "branch", name: "feature" } })).toEqual({ commit: second });
  expect((await git(folder.at("root/shop"), ["symbolic-ref", "--short", "HEAD"])).trim()).toBe("feature");
  const at = { path: "other", checkout: { type: "commit" as const, sha: first.slice(0, 10) } };
  expect(await clone(at)).toEqual({ commit: first });
  expect(existsSync(folder.at("root/other/readme.md"))).toBe(true);
});

test("says why it failed, and leaves nothing", async () => {
  const remote = { url: server.url, protocol: "http" as const };
  await expect(clone({ remote })).rejects.toMatchObject({ failure: "authentication" });
  const wrong = clone({ remote: { ...remote, token: { origin: server.origin, secret: "wrong-token" } } });
  await expect(wrong).rejects.toMatchObject({
    failure: "authentication",
    message: expect.not.stringContaining("wrong-token"),
  });
  const token = { origin: server.origin, secret: TOKEN };
  const missing = clone({ remote: { url: `${server.origin}/none.git`, protocol: "http", token } });
  await expect(missing).rejects.toMatchObject({ failure: "not_found" });
  const branch = clone({ checkout: { type: "branch", name: "none" } });
  await expect(branch).rejects.toMatchObject({ failure: "checkout" });
  const sha = clone({ checkout: { type: "commit", sha: "0123456789" } });
  await expect(sha).rejects.toMatchObject({ failure: "checkout" });
  await mkdir(folder.at("root/shop"));
  await writeFile(folder.at("root/shop/mine.txt"), "mine");
  await expect(clone()).rejects.toMatchObject({ failure: "clone" });
  expect(await filesIn(folder.at("root"))).toEqual([folder.at("root/shop/mine.txt")]);
  expect(await readdir(folder.at("scratch"))).toEqual([]);
});

test("a repository over the limit is not kept", async () => {
  await commit("large.bin", "x".repeat(2_000_000));
  await expect(clone({ maxBytes: 1_000_000 })).rejects.toThrow(/larger than 1 MB/);
  expect(existsSync(folder.at("root/shop"))).toBe(false);
});

test("an empty repository and a folder of this machine are cloned, too", async () => {
  await git(folder.path, ["init", "--quiet", "--bare", folder.at("empty.git")]);
  const remote = { url: folder.at("empty.git"), protocol: "file" as const };
  expect(await clone({ remote, path: "empty" })).toEqual({ commit: "none" });
  expect(await clone({ remote: { ...remote, url: server.path }, path: "near" })).toEqual({ commit: first });
});
