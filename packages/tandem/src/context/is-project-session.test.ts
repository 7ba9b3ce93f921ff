import { configSchema, type Environment, ENVIRONMENT_METADATA } from "@tandem/protocol";
import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { isProjectSession } from "./is-project-session.ts";

test("a session belongs to the project of its folder or of its worktree's repository", async () => {
  await using folder = await testFolder();
  const [ours, theirs] = [folder.join("shop"), folder.join("shop-secret")];
  await mkdir(ours);
  await mkdir(theirs);
  const paths: Record<string, string | undefined> = {
    env_ours: `${ours}/api`,
    env_theirs: theirs,
    env_scratch: undefined,
  };
  const environments = {
    get: async (id: string) =>
      id in paths
        ? ({ metadata: paths[id] ? { [ENVIRONMENT_METADATA.path]: paths[id] } : {} } as Environment)
        : undefined,
  };
  const isOurs = async (environmentId: string, at: string, config: object = {}) => {
    const project = { config: configSchema.parse(config) };
    const judge = await isProjectSession(project, [ours], { environments: environments as never });
    return judge({ environmentId, folder: at });
  };
  expect(await isOurs("env_local", ours)).toBe(true);
  expect(await isOurs("env_local", `${ours}/api`)).toBe(true);
  expect(await isOurs("env_local", theirs)).toBe(false);
  expect(await isOurs("env_ours", "/state/worktrees/sesn_1")).toBe(true);
  expect(await isOurs("env_theirs", "/state/worktrees/sesn_2")).toBe(false);
  expect(await isOurs("env_scratch", "/state/scratch/sesn_3")).toBe(false);
  const own = { storage: { url: "postgres://127.0.0.1/shop" } };
  expect(await isOurs("env_scratch", "/state/scratch/sesn_3", own)).toBe(true);
});
