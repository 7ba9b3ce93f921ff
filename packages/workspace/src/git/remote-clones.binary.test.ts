import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { git } from "./git.ts";
import { parseRemote, RemoteClones } from "./remote-clones.ts";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { createWorktree } from "../worktrees/worktree.ts";

describe("a remote", () => {
  it.each([
    ["https://example.com/shop.git", "https"],
    ["ssh://git@example.com/shop.git", "ssh"],
    ["git@example.com:team/shop.git", "ssh"],
    ["/srv/shop", "file"],
    ["file:///srv/shop", "file"],
  ])("accepts %s", (text, protocol) => expect(parseRemote(text).protocol).toBe(protocol));

  it.each([
    "ext::sh -c evil",
    "ext::evil",
    "http://example.com/shop.git",
    "git://example.com/shop.git",
    "https://user:secret@example.com/shop.git",
    "ssh://-oProxyCommand=evil/shop",
    "git@-oProxyCommand=evil:shop",
    "git@example.com:-shop",
    "--upload-pack=evil",
    "fd::17",
    "file://elsewhere/srv/shop",
    "shop",
    "",
    String.raw`https://github.com\@127.0.0.1/x`,
  ])("rejects %s", (text) => expect(() => parseRemote(text)).toThrow("cannot be cloned"));
});

it("is cloned once, then fetched, and worktrees are created from it", async () => {
  await using origin = await temporaryFolder();
  await using state = await temporaryFolder();
  await origin.write({ a: "1" });
  const first = await commitAll(origin.path, "first");
  const clones = new RemoteClones(state.path, process.env);
  const remote = parseRemote(origin.path);
  const [{ repository, branch }] = await Promise.all([clones.open(remote), clones.open(remote)]);
  const one = await createWorktree({ repository, branch, into: state.at("one") });
  expect({ commit: one.commit, branch }).toEqual({ commit: first, branch: "main" });
  await origin.write({ a: "2" });
  const second = await commitAll(origin.path, "second");
  await clones.open(remote);
  const two = await createWorktree({ repository, branch, into: state.at("two") });
  expect(two.commit).toBe(second);
  // Settings that a session writes into its repository must not affect the fetch with credentials.
  await asUser(one.folder, "config", "remote.origin.url", "ext::sh -c touch% /nowhere");
  await asUser(one.folder, "config", "remote.origin.uploadpack", `touch ${state.at("evil")};`);
  await clones.open(remote);
  expect(existsSync(state.at("evil"))).toBe(false);
  const folder = (await readdir(state.path)).find((name) => /^[0-9a-f]{24}$/.test(name));
  const mirror = state.at(`${folder}/mirror.git`);
  expect(await git(mirror, [`--git-dir=${mirror}`, "config", "remote.origin.url"])).toBe(`${origin.path}\n`);
});

it("reports an unreachable remote and leaves nothing behind", async () => {
  await using state = await temporaryFolder();
  const clones = new RemoteClones(state.path, process.env);
  await expect(clones.open(parseRemote("/nowhere/at/all"))).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("/nowhere/at/all"),
  });
  const [folder = ""] = await readdir(state.path);
  expect(await readdir(state.at(folder))).toEqual([]);
});
