import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { workerProblem } from "./worker-problem.ts";

test("a worker says that Claude Code is missing, and that folders which do not exist are no problem", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tandem-problem-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const executable = join(folder, "claude");
  const problem = () => workerProblem({ executable, folders: [folder, join(folder, "missing")] });
  expect(await problem()).toBe(`Claude Code is missing at ${executable}. Install it again`);
  await writeFile(executable, "");
  await chmod(executable, 0o755);
  expect(await problem()).toBeUndefined();
});

test("a full disk is a problem", async () => {
  const problem = await workerProblem({ executable: process.execPath, folders: [tmpdir()] }, Number.MAX_SAFE_INTEGER);
  expect(problem).toMatch(/^the disk of .+ is full \(\d+ MB free, \d.* MB needed\)\. Free some space$/);
});
