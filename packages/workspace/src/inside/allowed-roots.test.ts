import { symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { AllowedRoots } from "./allowed-roots.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

it("accepts a root and folders below it, by real path", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "work/app/readme": "" });
  await symlink(tree.at("work/app"), tree.at("work/alias"));
  await symlink(tree.at("work"), tree.at("elsewhere"));
  const roots = await AllowedRoots.open([tree.at("elsewhere")]);
  expect(roots.folders).toEqual([tree.at("work")]);
  expect(await roots.resolve(tree.at("work"))).toBe(tree.at("work"));
  expect(await roots.resolve(tree.at("elsewhere/app"))).toBe(tree.at("work/app"));
  expect(await roots.resolve(tree.at("work/alias"))).toBe(tree.at("work/app"));
  expect(await roots.resolve(`${tree.at("work")}/app/../app/`)).toBe(tree.at("work/app"));
});

it("rejects folders elsewhere, however named, and lists folder and roots", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "work/app/a": "", "work-too/b": "", "secret/c": "" });
  await symlink(tree.at("secret"), tree.at("work/link"));
  const roots = await AllowedRoots.open([tree.at("work")]);
  for (const folder of [
    tree.at("secret"),
    tree.path,
    "/",
    tree.at("work-too"),
    tree.at("work/link"),
    `${tree.at("work")}/../secret`,
    // Must not reveal whether it exists.
    tree.at("nothing"),
    "/root/.ssh/nothing",
  ]) {
    await expect(roots.resolve(folder), folder).rejects.toMatchObject({
      code: "forbidden",
      message: `The folder ${folder} is not under an allowed root (${tree.at("work")}).`,
    });
  }
});

it("rejects paths below a root that are not folders", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "work/file": "" });
  await symlink(tree.at("work/loop"), tree.at("work/loop"));
  const roots = await AllowedRoots.open([tree.at("work")]);
  for (const folder of [tree.at("work/gone"), tree.at("work/file"), tree.at("work/loop"), "work", "", "/wo\0rk"]) {
    await expect(roots.resolve(folder), folder).rejects.toMatchObject({ code: "invalid_request" });
  }
  await expect(AllowedRoots.open([tree.at("gone")])).rejects.toMatchObject({ code: "invalid_request" });
});

it("the file system root allows everything, and no root allows nothing", async () => {
  await using tree = await temporaryFolder();
  expect(await (await AllowedRoots.open(["/"])).resolve(tree.path)).toBe(tree.path);
  await expect((await AllowedRoots.open([])).resolve(tree.path)).rejects.toMatchObject({ code: "forbidden" });
});
