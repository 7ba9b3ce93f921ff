import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { outcomeOf } from "../apps/cli/src/testing/open-command.ts";
import { testFolder } from "../apps/cli/src/testing/test-folder.ts";
import { processesIn } from "../apps/cli/src/testing/process-stats.ts";

// Imported so that their types are checked.
export type * from "../examples/seven-at-once/rehearsed.ts";
export type * from "../examples/seven-at-once/run.ts";
export type * from "../examples/seven-at-once/seven-at-once.ts";

const root = join(import.meta.dirname, "..");

/** The example runs seven. */
const AGENTS = inject("soak") ? 7 : 2;

test("agents in their own worktrees share one budget and merge back, and nothing is left running", async () => {
  await using folder = await testFolder();
  const env = { PATH: process.env["PATH"], TMPDIR: folder.path, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const stage = folder.join("stage");
  const child = spawn(process.execPath, [join(root, "examples/seven-at-once/run.ts"), stage, String(AGENTS)], { env });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trim().split("\n");
  expect(lines.filter((line) => line.startsWith("tandem/"))).toHaveLength(AGENTS);
  const result = JSON.parse(lines.at(-1)!) as { budget: { spent: number } };
  expect(result).toMatchObject({
    sessions: AGENTS,
    worktrees: AGENTS,
    ports: AGENTS,
    commits: AGENTS,
    budget: { limit: 5 },
  });
  expect(result.budget.spent).toBeGreaterThan(0);

  const git = (...args: string[]) => execFileSync("git", args, { cwd: join(stage, "rivers"), encoding: "utf8" }).trim();
  const written = git("log", "--no-merges", "--format=%s", "main").split("\n");
  expect(written.filter((subject) => subject.startsWith("Complete the "))).toHaveLength(AGENTS);
  expect(git("grep", "--count", "Try it on port", "main", "--", "rivers").split("\n")).toHaveLength(AGENTS);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("worktree", "list").split("\n")).toHaveLength(1);
  expect(git("branch", "--list", "tandem/*")).toBe("");
  expect(processesIn(stage)).toEqual([]);
});
