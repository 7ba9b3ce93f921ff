import { chmod, readdir, readFile, stat, symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { createScratchFolder, removeFolder } from "./scratch-folder.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

it("creates a private folder, once", async () => {
  await using tree = await temporaryFolder();
  const folder = await createScratchFolder(tree.at("state/scratch"), "one");
  expect(folder).toBe(tree.at("state/scratch/one"));
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(tree.at("state/scratch"))).mode & 0o777).toBe(0o700);
  await expect(createScratchFolder(tree.at("state/scratch"), "one")).rejects.toMatchObject({ code: "conflict" });
});

it.each(["..", ".", "", "a/b", "../b", "/b", "a\0b"])("makes none called %j", async (name) => {
  await using tree = await temporaryFolder();
  await expect(createScratchFolder(tree.at("base"), name)).rejects.toMatchObject({ code: "invalid_request" });
});

it("removes its content and links, but not their targets", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "keep/file": "kept" });
  const folder = await createScratchFolder(tree.at("base"), "one");
  await tree.write({ "base/one/deep/er/file": "" });
  await symlink(tree.at("keep"), tree.at("base/one/deep/link"));
  await chmod(tree.at("base/one/deep/er/file"), 0o400);
  await removeFolder(tree.at("base"), folder);
  expect(await readdir(tree.at("base"))).toEqual([]);
  expect(await readFile(tree.at("keep/file"), "utf8")).toBe("kept");
  // Idempotent.
  await removeFolder(tree.at("base"), folder);
  await removeFolder(tree.at("gone"), tree.at("gone/one"));
});

it("removes only direct children of the base", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "base/one/file": "", "keep/file": "kept" });
  await symlink(tree.at("keep"), tree.at("base/link"));
  await symlink(tree.path, tree.at("base/up"));
  for (const folder of [
    tree.at("keep"),
    tree.at("base"),
    tree.at("base/one/file"),
    `${tree.at("base")}/..`,
    `${tree.at("base")}/one/..`,
    tree.at("base/link/file"),
    tree.at("base/up/keep"),
    "/",
  ]) {
    await expect(removeFolder(tree.at("base"), folder), folder).rejects.toMatchObject({ code: "forbidden" });
  }
  // Removes a link in place of a folder, but not its target.
  await removeFolder(tree.at("base"), tree.at("base/link"));
  expect(await readFile(tree.at("keep/file"), "utf8")).toBe("kept");
  expect((await readdir(tree.at("base"))).sort()).toEqual(["one", "up"]);
});
