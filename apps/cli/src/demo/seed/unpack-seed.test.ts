import { verifyAudit, openStore } from "@tandem/storage";
import { CheckpointStores } from "@tandem/workspace";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROJECT, STATE, unpackSeed } from "./unpack-seed.ts";

const NOW = Date.parse("2031-05-06T07:08:09Z");
let base: string;
let folder: string;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-unpack-")));
  folder = join(base, "demo");
  await unpackSeed(folder, NOW);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("the sessions are recent, need the user three times and cost nothing", async () => {
  await using store = await openStore(join(folder, STATE, "tandem.db"));
  const { data: sessions } = await store.sessions.list({ limit: 100 });
  expect(sessions.length).toBeGreaterThanOrEqual(8);
  expect(sessions.filter(({ waitingFor }) => waitingFor.length > 0)).toHaveLength(3);
  const ages = sessions.map(({ updatedAt }) => NOW - Date.parse(updatedAt));
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...ages)).toBeLessThan(24 * 3_600_000);
  expect(sessions.map(({ usage }) => usage.list_cost.amount)).toEqual(sessions.map(() => "0"));
  expect(await verifyAudit(await store.audit.read(0, 500))).toMatchObject({ ok: true, head: await store.audit.head() });
});

test("paths of the recording are replaced, in checkpoints and worktrees too", async () => {
  const project = join(folder, PROJECT);
  const worktree = readdirSync(join(folder, STATE, "worktrees")).find((name) => !name.endsWith(".json"));
  const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
  expect(git(join(folder, STATE, "worktrees", worktree!), "rev-parse", "--git-common-dir")).toBe(join(project, ".git"));
  expect(git(project, "status", "--short")).toContain("src/refunds.ts");
  const limits = { maxFiles: 100, maxFileBytes: 1e6, maxTotalBytes: 1e9, keepMs: 1e12 };
  const checkpoints = await new CheckpointStores(join(folder, STATE, "checkpoints"), limits).of(project);
  expect((await checkpoints.list()).length).toBeGreaterThan(5);
  expect(readFileSync(join(folder, STATE, "trusted.json"), "utf8")).toContain(project);
});

test("a folder that exists is not overwritten", async () => {
  await expect(unpackSeed(folder)).rejects.toThrow(/ENOTEMPTY|EEXIST/);
  expect(readdirSync(base)).toEqual(["demo"]);
});
