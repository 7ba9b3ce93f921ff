import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, type SessionId } from "@tandem/protocol";
import { createEmbeddedQueue } from "@tandem/queue";
import { afterAll, expect, test } from "vitest";
import { setEngineStage } from "../testing/engine-stage.ts";
import { RecentOutage } from "./recent-outage.ts";

const stage = await setEngineStage();
const worker = { id: "wrk_1" as never, machine: "alpha", labels: { volume: "data" }, tenants: null };
const fleet = {
  queue: createEmbeddedQueue(),
  role: "worker" as const,
  tenant: "default",
  worker,
  maxSessions: 5,
  peers: { contested: async () => new Set<SessionId>(), ended: async () => undefined },
  outage: new RecentOutage(systemClock),
};
const engine = await stage.open({ fleet });
afterAll(() => stage[Symbol.asyncDispose]());

const environment = async (metadata: Record<string, string>): Promise<string> =>
  (await engine.engine.environments.create({ name: "place", metadata })).id;
const rowOf = async (environmentId: string) => {
  const { id } = await engine.session({ environment_id: environmentId });
  return (await engine.store.sessions.get(id))!;
};
const git = (folder: string, ...args: string[]): string =>
  execFileSync(
    "git",
    ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", ...args],
    { cwd: folder, encoding: "utf8" },
  ).trim();

test("a session runs on its folder's machine, unless workers share the folder's volume", async () => {
  expect((await rowOf("env_local")).place).toBe("machine:alpha");
  expect((await rowOf(await environment({}))).place).toBe("machine:alpha");
  const shared = { "tandem.path": stage.folder, "tandem.volume": "data", "tandem.needs": "gpu=yes" };
  expect((await rowOf(await environment(shared))).place).toBe("needs:gpu=yes,volume=data");
});

test("a remote is cloned into a worktree for each session", async () => {
  const origin = join(stage.folder, "origin");
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", origin]);
  await writeFile(join(origin, "greeting.txt"), "hello");
  git(origin, "add", "--all");
  git(origin, "commit", "--quiet", "--message", "first");
  const id = await environment({ "tandem.git": origin });
  const [one, two] = [await rowOf(id), await rowOf(id)];
  expect(await readFile(join(one.folder, "greeting.txt"), "utf8")).toBe("hello");
  expect(one.folder).not.toBe(two.folder);
  expect(git(one.folder, "branch", "--show-current")).toBe(`tandem/${one.id}`);
  // The remote's folder is not used as a working folder.
  expect(git(origin, "branch", "--list")).toBe("* main");
});

test.each([
  [{ "tandem.needs": "gpu" }, "expected labels"],
  [{ "tandem.volume": "data" }, "expected the name of a volume"],
  [{ "tandem.git": "ext::sh -c evil" }, "cannot be cloned"],
  [{ "tandem.git": "/etc" }, "not under an allowed root"],
  [{ "tandem.git": "https://example.com/shop.git", "tandem.path": "/srv" }, "expected either a remote"],
])("%j is refused", async (metadata, words) => {
  await expect(environment(metadata)).rejects.toThrow(words);
});
