import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { branchOf } from "./git/branch-of.ts";
import { mainFolderOf } from "./folder-config.ts";
import { readSmallFile } from "./read-small-file.ts";
import { findRepository } from "./git/repository.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "tandem-small-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const makePipe = (path: string): Buffer => execFileSync("sh", ["-c", `mkfifo '${join(folder, path)}'`]);

test.skipIf(process.platform === "win32")("a pipe in place of .git or its HEAD blocks nothing", async () => {
  makePipe(".git");
  expect(await branchOf(folder)).toBe(undefined);
  expect(await mainFolderOf(folder)).toBe(undefined);
  expect(await findRepository(folder)).toBe(undefined);
  await rm(join(folder, ".git"));
  await mkdir(join(folder, ".git"));
  makePipe(".git/HEAD");
  makePipe(".git/commondir");
  expect(await branchOf(folder)).toBe(undefined);
  expect(await findRepository(folder)).toBe(undefined);
});

test("reads small files only", async () => {
  await writeFile(join(folder, "HEAD"), "ref: refs/heads/main\n");
  expect(await readSmallFile(join(folder, "HEAD"))).toBe("ref: refs/heads/main\n");
  await writeFile(join(folder, "large"), "x".repeat(10_000));
  await symlink("/dev/zero", join(folder, "endless"));
  for (const name of ["large", "endless", "."])
    await expect(readSmallFile(join(folder, name)), name).rejects.toThrow("not a small file");
});
