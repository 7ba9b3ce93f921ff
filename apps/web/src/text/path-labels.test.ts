import { expect, test } from "vitest";
import { folderName, isOwnFolder, relativePath } from "./path-labels.ts";

test("a session's own folder is labelled by its kind, other folders by their name", () => {
  expect(folderName("/srv/shop/")).toBe("shop");
  expect(folderName("/home/me/.tandem/scratch/sesn_01ABC")).toBe("Scratch folder");
  expect(folderName("/home/me/.tandem/worktrees/sesn_01ABC")).toBe("Worktree");
  expect(isOwnFolder("/home/me/.tandem/worktrees/sesn_01ABC")).toBe(true);
  expect(isOwnFolder("/home/me/sesn_notes.d")).toBe(false);
});

test("a folder whose name is a prefix of another is not its parent", () => {
  expect(relativePath("/a/b", "/a/bc/d")).toBe("/a/bc/d");
  expect(relativePath("/a/b", "/a/b/d")).toBe("d");
});
