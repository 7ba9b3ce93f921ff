import { rm, symlink, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { searchFolder } from "./search-folder.ts";
import { commitAll } from "./testing/commit.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const limit = 100;
const pathsOf = (hits: { path: string }[]) => hits.map(({ path }) => path);

describe.each(["a git folder", "any folder"])("in %s", (kind) => {
  const prepared = async () => {
    const tree = await temporaryFolder();
    await tree.write({
      "src/Main.ts": "import { a } from './a';\r\n\nconst needle = 1; // needle\nno\nneedle again",
      "src/a.ts": "export const a = '(.*)';\n",
      "docs/main.md": "nothing\n",
      "image.png": "\0needle",
    });
    if (kind === "a git folder") await commitAll(tree.path, "first");
    // Uncommitted, but found too.
    await tree.write({ "new.txt": "a needle too" });
    return tree;
  };

  it("finds files by a part of their path", async () => {
    await using tree = await prepared();
    expect(await searchFolder(tree.path, { name: "main", limit })).toEqual([
      { path: "docs/main.md" },
      { path: "src/Main.ts" },
    ]);
    expect(pathsOf(await searchFolder(tree.path, { name: "src/", limit }))).toEqual(["src/Main.ts", "src/a.ts"]);
    expect(await searchFolder(tree.path, { name: "main", limit: 1 })).toEqual([{ path: "docs/main.md" }]);
  });

  it("finds lines by literal text, not patterns, and no binary files", async () => {
    await using tree = await prepared();
    expect(await searchFolder(tree.path, { text: "needle", limit })).toEqual([
      { path: "new.txt", line: 1, text: "a needle too" },
      { path: "src/Main.ts", line: 3, text: "const needle = 1; // needle" },
      { path: "src/Main.ts", line: 5, text: "needle again" },
    ]);
    expect(await searchFolder(tree.path, { text: "'./a'", limit })).toEqual([
      { path: "src/Main.ts", line: 1, text: "import { a } from './a';" },
    ]);
    expect(pathsOf(await searchFolder(tree.path, { text: "(.*)", limit }))).toEqual(["src/a.ts"]);
    expect(await searchFolder(tree.path, { text: "Needle", limit })).toEqual([]);
    expect(await searchFolder(tree.path, { name: "new", text: "needle", limit })).toHaveLength(1);
    expect(await searchFolder(tree.path, { text: "needle", limit: 2 })).toHaveLength(2);
  });

  it("does not follow links out", async () => {
    await using outside = await temporaryFolder();
    await outside.write({ "secret.txt": "needle" });
    await using tree = await prepared();
    await symlink(outside.path, tree.at("folder-link"));
    await symlink(outside.at("secret.txt"), tree.at("file-link"));
    expect(pathsOf(await searchFolder(tree.path, { text: "needle", limit }))).not.toContain("file-link");
    expect(await searchFolder(tree.path, { name: "link", limit })).toEqual([]);
  });
});

it("omits ignored files and files only in the index", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ ".gitignore": "dist\n*.log\n", "dist/out.js": "needle", "a.log": "needle", "gone.ts": "needle" });
  await commitAll(tree.path, "first");
  await rm(tree.at("gone.ts"));
  expect(await searchFolder(tree.path, { text: "needle", limit })).toEqual([]);
  expect(await searchFolder(tree.path, { name: "gone", limit })).toEqual([]);
});

it("finds files of a folder that its outer repository ignores", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ ".gitignore": "*\n", "scratch/one/file.txt": "needle" });
  await commitAll(tree.path, "first");
  expect(pathsOf(await searchFolder(tree.at("scratch/one"), { text: "needle", limit }))).toEqual(["file.txt"]);
});

it("runs no program named in the folder's settings", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ "a.txt": "needle" });
  await commitAll(tree.path, "first");
  const script = tree.at("run-me");
  await writeFile(script, `#!/bin/sh\ntouch ${tree.at("ran")}\n`, { mode: 0o755 });
  await writeFile(tree.at(".git/config"), `[core]\n\tfsmonitor = ${script}\n\trepositoryformatversion = 0\n`);
  expect(await searchFolder(tree.path, { name: "a.txt", limit })).toHaveLength(1);
  expect(await searchFolder(tree.path, { name: "ran", limit })).toEqual([]);
});

it("searches the beginning of a large file, and clips long lines around a match", async () => {
  await using tree = await temporaryFolder();
  await tree.write({ huge: "needle\n", long: `${"x".repeat(5_000)}needle${"y".repeat(5_000)}` });
  await truncate(tree.at("huge"), 2 ** 40);
  await tree.write({ late: `${"x".repeat(2 * 1_024 * 1_024)}\nneedle` });
  const hits = await searchFolder(tree.path, { text: "needle", limit });
  expect(pathsOf(hits)).toEqual(["long"]);
  expect(hits[0]!.text).toHaveLength(400);
  expect(hits[0]!.text).toContain("needle");
});

it.each([{}, { text: "" }, { text: "two\nlines" }])("refuses %j", async (query) => {
  await using tree = await temporaryFolder();
  await expect(searchFolder(tree.path, { ...query, limit })).rejects.toMatchObject({ code: "invalid_request" });
});

it("does not block the event loop while searching many files", async () => {
  await using tree = await temporaryFolder();
  const files = Array.from({ length: 3_000 }, (_, i) => [`d${i % 30}/f${i}.txt`, `line\n`.repeat(50)] as const);
  await tree.write(Object.fromEntries(files));
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const began = performance.now();
  expect(await searchFolder(tree.path, { text: "nowhere", limit })).toEqual([]);
  clearInterval(timer);
  // A blocking loop would allow only one or two.
  expect(ticks).toBeGreaterThan((performance.now() - began) / 50);
});
