import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { git } from "./git.ts";
import { openRepository } from "./repository.ts";
import { commitAll } from "../testing/commit.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { findUncommitted } from "../worktrees/unsaved-work.ts";

test("no filter of a nested repository runs when changes are looked for", async () => {
  await using folder = await temporaryFolder();
  for (const name of ["sub/deep", "sub", "."]) {
    await folder.write({ [`${name}/f`]: "1", [`${name}/.gitattributes`]: "* filter=evil\n" });
    await git(folder.path, ["init", "--quiet", folder.at(name)]);
    await commitAll(folder.at(name), name);
  }
  for (const name of ["sub/deep", "sub", "."]) {
    await git(folder.at(name), ["config", "filter.evil.clean", `touch ${folder.at("filtered")}; cat`]);
    await folder.write({ [`${name}/f`]: "2" });
  }
  expect(await findUncommitted(await openRepository(folder.path), {})).toEqual(["f", "sub"]);
  expect(existsSync(folder.at("filtered"))).toBe(false);
});
