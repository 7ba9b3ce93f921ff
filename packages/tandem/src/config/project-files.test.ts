import { mkdir, readdir, readFile, stat, symlink, writeFile, chmod } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { findProject } from "./find-project.ts";
import { loadProject } from "./load-project.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

describe("finding the project", () => {
  test("uses the nearest parent folder with a tandem.yaml", async () => {
    await using folder = await testFolder();
    await mkdir(folder.join("a", "b", "c"), { recursive: true });
    await writeFile(folder.join("tandem.yaml"), "");
    await writeFile(folder.join("a", "tandem.yaml"), "");
    expect(findProject(folder.join("a", "b", "c"), undefined)).toMatchObject({
      folder: folder.join("a"),
      displayPath: "../../tandem.yaml",
    });
    expect(findProject(folder.join("a", "b"), "../..")?.folder).toBe(folder.path);
  });

  test("a named folder that does not exist is an error", async () => {
    await using folder = await testFolder();
    expect(() => findProject(folder.path, "nowhere")).toThrow("There is no folder");
  });

  test.each([
    ["missing", async () => {}, "config_missing"],
    ["a folder", (file: string) => mkdir(file), "config_unreadable"],
    ["a circle of links", (file: string) => symlink(file, file), "config_unreadable"],
  ])("a config that is %s is one clear error", async (_, make, code) => {
    await using folder = await testFolder();
    await make(folder.join("tandem.yaml"));
    const error = loadProject({}, findProject(folder.path, ".")!);
    await expect(error).rejects.toMatchObject({ code, message: expect.stringContaining("tandem.yaml"), fix: /\S/ });
  });
});

describe("writing a file", () => {
  test("keeps its mode and writes through a link", async () => {
    await using folder = await testFolder();
    await writeFile(folder.join("real"), "old");
    await chmod(folder.join("real"), 0o640);
    await symlink("real", folder.join("link"));
    await writeFileAtomically(folder.join("link"), "new");
    expect(await readFile(folder.join("real"), "utf8")).toBe("new");
    expect((await stat(folder.join("real"))).mode & 0o777).toBe(0o640);
    expect((await readdir(folder.path)).sort()).toEqual(["link", "real"]);
  });

  test("a failed write keeps the old file and leaves no temporary file", async () => {
    await using folder = await testFolder();
    // A folder at the target path makes the final rename fail.
    await mkdir(folder.join("file"));
    await writeFile(folder.join("file", "inside"), "");
    await expect(writeFileAtomically(folder.join("file"), "new")).rejects.toMatchObject({ code: "write_failed" });
    expect(await readdir(folder.path)).toEqual(["file"]);
  });
});
