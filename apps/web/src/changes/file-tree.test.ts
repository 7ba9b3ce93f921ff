import { expect, test } from "vitest";
import type { FileChange } from "./changes-api.ts";
import { filesIn, fileTree } from "./file-tree.ts";

const file = (path: string): FileChange => ({ path, status: "modified", binary: false, added: 1, removed: 0 });

test("merges chains of single folders, and sorts folders before files", () => {
  const tree = fileTree(["b.md", "src/http/routes/z.ts", "src/http/routes/a.ts", "docs/a.md"].map(file));
  expect(tree.folders.map(({ name }) => name)).toEqual(["docs", "src/http/routes"]);
  expect(tree.files.map(({ name }) => name)).toEqual(["b.md"]);
  expect(filesIn(tree).map(({ path }) => path)).toEqual([
    "docs/a.md",
    "src/http/routes/a.ts",
    "src/http/routes/z.ts",
    "b.md",
  ]);
});

test("does not merge a folder that has its own file", () => {
  const tree = fileTree(["src/a/b.ts", "src/c.ts"].map(file));
  expect(tree.folders[0]).toMatchObject({ name: "src", folders: [{ name: "a", path: "src/a" }] });
});
