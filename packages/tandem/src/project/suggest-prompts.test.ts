import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { suggestPrompts } from "./suggest-prompts.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-prompts-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("suggests prompts by the content of the folder", async () => {
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "shop.sqlite"), "");
  writeFileSync(join(folder, "package.json"), '{ "scripts": { "test": "vitest" } }');
  writeFileSync(join(folder, "README.md"), "");
  expect(await suggestPrompts(folder)).toEqual([
    "Describe the tables in data/shop.sqlite and how they join.",
    "Run the tests and fix the first failure.",
    "Compare README.md with the code and list what is out of date.",
  ]);
});

test("always suggests three", async () => {
  expect(await suggestPrompts(folder)).toHaveLength(3);
  expect(await suggestPrompts(join(folder, "missing"))).toHaveLength(3);
  writeFileSync(join(folder, "notes.txt"), "");
  expect(await suggestPrompts(folder)).toHaveLength(3);
});
