import { chmod, readdir } from "node:fs/promises";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { git } from "./git.ts";
import { pushFolder, type FolderPush } from "./push-folder.ts";
import { commitAll } from "../testing/commit.ts";
import { startGitServer } from "../testing/git-server.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const TOKEN = "ghs_a-token-that-must-not-leak";

test("a folder's files are pushed as a bot, and the folder stays as it is", async () => {
  await using server = await startGitServer(TOKEN);
  await using folder = await temporaryFolder();
  await using scratch = await temporaryFolder();
  await folder.write({ a: "1", ".gitignore": "ignored\n" });
  await commitAll(folder.path, "first");
  await folder.write({ a: "2", b: "new", ignored: "no" });
  // Files that an agent could plant to steal the token.
  await folder.write({
    ".git/hooks/pre-push": `#!/bin/sh\ntouch ${folder.path}/hooked\n`,
    ".gitattributes": "* filter=evil\n",
  });
  await chmod(`${folder.path}/.git/hooks/pre-push`, 0o755);
  for (const [key, value] of [
    ["filter.evil.clean", `touch ${folder.path}/filtered; cat`],
    ["credential.helper", `!touch ${folder.path}/asked`],
    [`url.http://127.0.0.1:9/.insteadOf`, server.origin],
    ["http.proxy", "http://127.0.0.1:9"],
  ] as const)
    await git(folder.path, ["config", key, value]);
  const status = () =>
    git(folder.path, ["status", "--porcelain", "--branch"], { settings: { "filter.evil.clean": "cat" } });
  const before = await status();
  const push: FolderPush = {
    folder: folder.path,
    scratch: scratch.path,
    remote: { url: server.url, protocol: "http", token: { origin: server.origin, secret: TOKEN } },
    variables: {},
    branch: "tandem/fix",
    message: "Fix it\n\nCo-authored-by: Ann <ann@example.com>\n",
    author: { name: "Bot", email: "bot@example.com" },
  };
  const first = await pushFolder(push);
  const at = (...args: string[]) => git(server.path, [`--git-dir=${server.path}`, ...args]);
  expect((await at("ls-tree", "--name-only", "tandem/fix")).trim().split("\n")).toEqual([
    ".gitattributes",
    ".gitignore",
    "a",
    "b",
  ]);
  expect(await at("log", "-1", "--format=%an %ae%n%cn%n%B", "tandem/fix")).toBe(
    "Bot bot@example.com\nBot\nFix it\n\nCo-authored-by: Ann <ann@example.com>\n\n",
  );
  expect(await status()).toBe(before);
  const planted = new Set(["hooked", "filtered", "asked"]);
  expect((await readdir(folder.path)).filter((name) => planted.has(name))).toEqual([]);
  expect(await readdir(scratch.path)).toEqual([]);
  expect(server.seen.filter((given) => given !== undefined && given !== `x-access-token:${TOKEN}`)).toEqual([]);

  // The same again changes nothing; a later state continues from the branch.
  expect(await pushFolder({ ...push, previous: first.commit })).toEqual({ commit: first.commit, isChanged: false });
  await folder.write({ b: "newer" });
  await pushFolder({ ...push, previous: first.commit });
  expect((await at("rev-list", "--count", "tandem/fix")).trim()).toBe("3");
});

test("no filter of a nested repository runs", async () => {
  await using server = await startGitServer(TOKEN);
  await using folder = await temporaryFolder();
  await using scratch = await temporaryFolder();
  const nested = async (name: string) => {
    await folder.write({ [`${name}/f`]: "1", [`${name}/.gitattributes`]: "* filter=evil\n" });
    await git(folder.path, ["init", "--quiet", `${folder.path}/${name}`]);
    await commitAll(`${folder.path}/${name}`, "nested");
    await git(`${folder.path}/${name}`, ["config", "filter.evil.clean", `touch ${folder.path}/filtered; cat`]);
  };
  await nested("known");
  await folder.write({ a: "1" });
  await commitAll(folder.path, "first");
  await nested("new");
  // Settings of the submodule that the session writes, too.
  await folder.write({ a: "2", "known/f": "2", "new/f": "2" });
  await folder.write({ ".gitmodules": '[submodule "known"]\n\tpath = known\n\turl = ./known\n\tignore = none\n' });
  await pushFolder({
    folder: folder.path,
    scratch: scratch.path,
    remote: { url: server.url, protocol: "http", token: { origin: server.origin, secret: TOKEN } },
    variables: {},
    branch: "x",
    message: "m\n",
    author: { name: "Bot", email: "bot@example.com" },
  });
  expect(await readdir(folder.path)).not.toContain("filtered");
  const tree = await git(server.path, [`--git-dir=${server.path}`, "ls-tree", "--name-only", "x"]);
  expect(tree.trim().split("\n")).toEqual([".gitmodules", "a", "known", "new"]);
});

test("a wrong token and a foreign commit on the branch are refused with a reason that has no token", async () => {
  await using server = await startGitServer(TOKEN);
  await using folder = await temporaryFolder();
  await using scratch = await temporaryFolder();
  await folder.write({ a: "1" });
  await commitAll(folder.path, "first");
  const push = {
    folder: folder.path,
    scratch: scratch.path,
    remote: { url: server.url, protocol: "http" as const, token: { origin: server.origin, secret: "wrong-token" } },
    variables: {},
    branch: "x",
    message: "m\n",
    author: { name: "Bot", email: "bot@example.com" },
  };
  const error = await pushFolder(push).then(
    () => new Error("It was pushed."),
    (failure: unknown) => failure,
  );
  expect(inspect(error, { depth: 10 })).toContain("could not be pushed");
  expect(inspect(error, { depth: 10 })).not.toContain("wrong-token");
  const right = { ...push, remote: { ...push.remote, token: { ...push.remote.token, secret: TOKEN } } };
  await folder.write({ a: "2" });
  await pushFolder(right);
  await folder.write({ a: "3" });
  await expect(pushFolder(right)).rejects.toThrow(/rejected/);
});
