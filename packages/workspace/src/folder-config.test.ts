import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mainFolderOf, readFolderConfig } from "./folder-config.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "tandem-config-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), text);
};

test("a folder without configuration has no identity", async () => {
  await put("src/a.ts", "code");
  await put("CLAUDE.md", "words");
  expect(await readFolderConfig(folder)).toMatchObject({ identity: undefined, files: [] });
});

test("any addition, change or rename changes the identity", async () => {
  const seen = new Set<string | undefined>();
  const changes: [string, string][] = [
    [".mcp.json", "{}"],
    [".claude/settings.json", "{}"],
    [".claude/settings.json", "{ }"],
    [".claude/settings.local.json", "{}"],
    [".claude/hooks/check.sh", "exit 0"],
    [".claude/skills/greet/SKILL.md", "hello"],
    [".claude/skills/greet/run.py", "hello"],
    [".claude/agents/a.md", "hello"],
    [".tandem/agents/a.md", "hello"],
    [".claude/commands/a.md", "hello"],
    [".tandem/commands/a.md", "hello"],
    [".opencode/command/a.md", "hello"],
    [".opencode/commands/deep/a.md", "hello"],
  ];
  for (const [path, text] of changes) {
    await put(path, text);
    seen.add((await readFolderConfig(folder)).identity);
  }
  expect(seen.size).toBe(changes.length);
  await put("src/a.ts", "code");
  await put(".claude/worktrees/x/file", "work");
  await put(".tandem/other.txt", "work");
  expect(seen).toContain((await readFolderConfig(folder)).identity);
});

test("returns exactly the hashed content", async () => {
  await put(".claude/settings.json", "before");
  const config = await readFolderConfig(folder);
  await put(".claude/settings.json", "after");
  expect(config.text(".claude/settings.json")).toBe("before");
});

test("rejects links, because their target may change", async () => {
  await put("elsewhere/SKILL.md", "hello");
  await mkdir(join(folder, ".claude"));
  await symlink(join(folder, "elsewhere"), join(folder, ".claude", "skills"));
  await expect(readFolderConfig(folder)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(".claude/skills"),
  });
});

test("rejects too much configuration before reading it", async () => {
  await put(".claude/settings.json", "{}");
  // A sparse file: reading it whole would exhaust the memory.
  await truncate(join(folder, ".claude", "settings.json"), 2 ** 40);
  await expect(readFolderConfig(folder)).rejects.toThrow("too large to review");
  await rm(join(folder, ".claude"), { recursive: true });
  await put(`.claude/${"a/".repeat(30)}x`, "deep");
  await expect(readFolderConfig(folder)).rejects.toThrow("nested too deeply");
  await rm(join(folder, ".claude"), { recursive: true });
  await mkdir(join(folder, ".claude"));
  await Promise.all(Array.from({ length: 1_000 }, (_, at) => mkdir(join(folder, ".claude", String(at)))));
  await expect(readFolderConfig(folder)).rejects.toThrow("more than 1000 folders");
});

test("does not trust a .git file that only claims to belong to a trusted repository", async () => {
  await put("trusted/.git/HEAD", "ref: refs/heads/main");
  await put("hostile/.git", `gitdir: ${join(folder, "trusted", ".git", "worktrees", "x")}\n`);
  expect(await mainFolderOf(join(folder, "hostile"))).toBeUndefined();
  await put("trusted/.git/worktrees/x/gitdir", `${join(folder, "other", ".git")}\n`);
  await put("trusted/.git/worktrees/x/commondir", "../..\n");
  await put("other/.git", `gitdir: ${join(folder, "trusted", ".git", "worktrees", "x")}\n`);
  expect(await mainFolderOf(join(folder, "hostile"))).toBeUndefined();
  expect(await mainFolderOf(join(folder, "other"))).toBe(join(folder, "trusted"));
  // An unpacked archive may bring its own pointers.
  await put("unpacked/.git", "gitdir: admin\n");
  await put("unpacked/admin/gitdir", "../.git\n");
  await put("unpacked/admin/commondir", `${join(folder, "trusted", ".git")}\n`);
  expect(await mainFolderOf(join(folder, "unpacked"))).toBeUndefined();
});
