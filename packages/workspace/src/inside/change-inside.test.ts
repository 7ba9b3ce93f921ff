import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashInside, makeFolderInside, moveInside, removeInside, replaceInside } from "./change-inside.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.ts";

let folder: TemporaryFolder;
let root: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  await folder.write({ "root/a.txt": "one", "root/deep/b.txt": "two", "outside/c.txt": "three" });
  root = folder.at("root");
});
afterEach(() => folder[Symbol.asyncDispose]());

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (path: string) => readFile(join(root, path), "utf8");

test("a file is written whole, keeps its mode, and respects its precondition", async () => {
  await chmod(join(root, "a.txt"), 0o755);
  const before = await hashInside(root, "a.txt");
  expect(await replaceInside(root, "a.txt", bytes("new"), { expected: before })).toEqual({ before });
  expect(await read("a.txt")).toBe("new");
  expect((await stat(join(root, "a.txt"))).mode & 0o777).toBe(0o755);
  const stale = replaceInside(root, "a.txt", bytes("x"), { expected: before });
  await expect(stale).rejects.toMatchObject({ code: "conflict", detail: "file_precondition_failed" });
  await expect(replaceInside(root, "a.txt", bytes("x"), { expected: null })).rejects.toMatchObject({
    code: "conflict",
  });
  expect(await replaceInside(root, "new/n.txt", bytes("n"), { expected: null })).toEqual({ before: null });
  expect(await read("new/n.txt")).toBe("n");
  // A repeated request finds its own content.
  const is = await hashInside(root, "a.txt");
  expect(await replaceInside(root, "a.txt", bytes("new"), { expected: before, is })).toEqual({ before: is });
  expect((await readdir(root)).filter((name) => name.startsWith(".tandem-"))).toEqual([]);
});

test("files and folders are moved, created and removed, and nothing is overwritten", async () => {
  await moveInside(root, "deep", "moved/deep");
  expect(await read("moved/deep/b.txt")).toBe("two");
  await expect(moveInside(root, "a.txt", "moved/deep/b.txt")).rejects.toMatchObject({ code: "conflict" });
  await expect(moveInside(root, "none.txt", "x.txt")).rejects.toMatchObject({ code: "not_found" });
  await expect(moveInside(root, "moved", "moved/deep/m")).rejects.toMatchObject({ code: "invalid_request" });
  await makeFolderInside(root, "made/here");
  await makeFolderInside(root, "made/here");
  await expect(makeFolderInside(root, "a.txt")).rejects.toMatchObject({ code: "conflict" });
  await expect(removeInside(root, "moved")).rejects.toMatchObject({ code: "conflict" });
  await removeInside(root, "moved", { recursive: true });
  await removeInside(root, "made/here");
  await expect(removeInside(root, "a.txt", { expected: "0".repeat(64) })).rejects.toMatchObject({ code: "conflict" });
  await removeInside(root, "a.txt", { expected: await hashInside(root, "a.txt") });
  expect(await readdir(root)).toEqual(["made"]);
});

test.each(["../outside/c.txt", "deep/../../outside/c.txt", "/etc/passwd", "", ".", "link/c.txt", "a\0b"])(
  "%j is not changed",
  async (path) => {
    await symlink(folder.at("outside"), join(root, "link"));
    await expect(replaceInside(root, path, bytes("x"))).rejects.toMatchObject({
      code: expect.stringMatching(/forb|inv/),
    });
    await expect(removeInside(root, path, { recursive: true })).rejects.toThrow(/./);
    await expect(moveInside(root, "a.txt", path)).rejects.toThrow(/./);
    await expect(moveInside(root, path, "taken.txt")).rejects.toThrow(/./);
    expect(await readFile(folder.at("outside/c.txt"), "utf8")).toBe("three");
    expect(existsSync(join(root, "a.txt"))).toBe(true);
  },
);

test("a link is removed itself, not followed, and its real path is judged", async () => {
  await symlink(folder.at("outside/c.txt"), join(root, "out.txt"));
  await expect(replaceInside(root, "out.txt", bytes("x"))).rejects.toMatchObject({ code: "forbidden" });
  await removeInside(root, "out.txt");
  expect(await readFile(folder.at("outside/c.txt"), "utf8")).toBe("three");
  await mkdir(join(root, "secret"));
  await symlink("secret", join(root, "plain"));
  const refuse = (path: string): void => {
    if (path.startsWith("secret")) throw new Error(`refused ${path}`);
  };
  await expect(removeInside(root, "plain/x", { refuse })).rejects.toThrow("refused secret/x");
});
