import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { readFolderConfig } from "@tandem/workspace";
import { beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { storeSkills } from "./store-skills.ts";

const DAY = 24 * 60 * 60 * 1_000;

let root: string;
let clock: MovableClock;
beforeEach(async () => {
  clock = new MovableClock();
  root = await scratchFolder();
});

const put = async (path: string, text: string): Promise<void> => {
  const file = join(root, "project", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};
const copy = async (): Promise<string> =>
  storeSkills(join(root, "state"), await readFolderConfig(join(root, "project")), clock);
const filesIn = async (place: string): Promise<string[]> =>
  (await readdir(place, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    .sort();

test("a copy contains the trusted skills and nothing else of the folder", async () => {
  await put(".claude/skills/greet/SKILL.md", "Say hello.");
  await put(".claude/skills/greet/run.sh", "#!/bin/sh\n");
  await put(".claude/hooks/hooks.json", "{}");
  await put(".claude/agents/a.md", "agent");
  await put(".claude/.claude-plugin/plugin.json", '{ "hooks": "./worktrees/hooks.json" }');
  const config = await readFolderConfig(join(root, "project"));
  await put(".claude/skills/greet/SKILL.md", "Say something else.");
  const place = await storeSkills(join(root, "state"), config, clock);
  expect(await filesIn(place)).toEqual([".claude-plugin/plugin.json", "skills/greet/SKILL.md", "skills/greet/run.sh"]);
  expect(JSON.parse(await readFile(join(place, ".claude-plugin/plugin.json"), "utf8"))).toEqual({ name: "folder" });
  expect(await readFile(join(place, "skills/greet/SKILL.md"), "utf8")).toBe("Say hello.");
  expect((await stat(join(place, "skills/greet/run.sh"))).mode & 0o777).toBe(0o500);
});

test("the same skills share one copy, and a modified copy is rebuilt", async () => {
  await put(".claude/skills/greet/SKILL.md", "Say hello.");
  const place = await copy();
  expect(await copy()).toBe(place);
  await chmod(join(place, "skills/greet/SKILL.md"), 0o600);
  await writeFile(join(place, "skills/greet/SKILL.md"), "Say evil.");
  await mkdir(join(place, "hooks"));
  await writeFile(join(place, "hooks/hooks.json"), "{}");
  expect(await copy()).toBe(place);
  expect(await filesIn(place)).toEqual([".claude-plugin/plugin.json", "skills/greet/SKILL.md"]);
  expect(await readFile(join(place, "skills/greet/SKILL.md"), "utf8")).toBe("Say hello.");
});

test("copies unused for a month are removed", async () => {
  await put(".claude/skills/greet/SKILL.md", "Say hello.");
  await copy();
  await put(".claude/skills/greet/SKILL.md", "Say hi.");
  const used = await copy();
  clock.advance(29 * DAY);
  expect(await copy()).toBe(used);
  clock.advance(2 * DAY);
  await put(".claude/skills/greet/SKILL.md", "Say goodbye.");
  const young = await copy();
  expect(await readdir(dirname(young))).toEqual([used, young].map((place) => basename(place)).toSorted());
});
