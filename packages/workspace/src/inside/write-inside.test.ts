import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { writeInside } from "./write-inside.ts";

const content = Buffer.from("content");

test("creates a file with its parent folders, owner-only", async () => {
  await using folder = await temporaryFolder();
  const real = await writeInside(folder.path, "a/b/-rf", content);
  expect(real).toBe(join(folder.path, "a/b/-rf"));
  expect(await readFile(real)).toEqual(content);
  expect((await stat(real)).mode & 0o777).toBe(0o600);
});

test.each(["../x", "a/../../x", "/etc/x", "..", "", ".", "a/.."])("%j leads nowhere else", async (path) => {
  await using folder = await temporaryFolder();
  await expect(writeInside(folder.path, path, content)).rejects.toMatchObject({ code: "forbidden" });
  expect(await readdir(folder.path)).toEqual([]);
});

test("follows no link, in the path or at its end", async () => {
  await using folder = await temporaryFolder();
  await using elsewhere = await temporaryFolder();
  await symlink(elsewhere.path, join(folder.path, "way"));
  await symlink(join(elsewhere.path, "target"), join(folder.path, "end"));
  await expect(writeInside(folder.path, "way/x", content)).rejects.toMatchObject({ code: "forbidden" });
  await expect(writeInside(folder.path, "end", content)).rejects.toMatchObject({ code: "conflict" });
  expect(await readdir(elsewhere.path)).toEqual([]);
});

test("overwrites nothing", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "file"), "mine");
  await mkdir(join(folder.path, "folder"));
  for (const path of ["file", "folder"]) {
    await expect(writeInside(folder.path, path, content)).rejects.toMatchObject({ code: "conflict" });
  }
  expect(await readFile(join(folder.path, "file"), "utf8")).toBe("mine");
});

test.each(["x/", "x/.", "file/x", "a\0b", "n".repeat(300), `${"long/".repeat(1_000)}x`])(
  "a path that no file can have is refused as invalid (%#)",
  async (path) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "file"), "mine");
    await expect(writeInside(folder.path, path, content)).rejects.toMatchObject({ code: "invalid_request" });
  },
);
