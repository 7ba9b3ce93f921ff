import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import Anthropic, { BadRequestError, PermissionDeniedError } from "@anthropic-ai/sdk";
import type { BetaManagedAgentsGitHubRepositoryResource } from "@anthropic-ai/sdk/resources/beta/sessions/resources";
import { text } from "@tandem/rehearsal";
import { git } from "@tandem/workspace";
import { startGitServer, type GitServer } from "@tandem/workspace/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage, type JudgeStage } from "../testing/judge-stage.ts";

const TOKEN = "ghp_the-token-0123456789";

let stage: JudgeStage;
let remote: GitServer;
beforeAll(async () => {
  [stage, remote] = await Promise.all([setJudgeStage(), startGitServer(TOKEN)]);
  const at = dirname(remote.path);
  await git(at, ["init", "--quiet", "--initial-branch=main", "work"]);
  const settings = { "user.name": "Tess", "user.email": "tess@example.com" };
  const commit = ["commit", "--quiet", "--allow-empty", "--message", "first"];
  await git(join(at, "work"), commit, { settings });
  const outside = { protocols: ["file"], variables: {} };
  await git(join(at, "work"), ["push", "--quiet", remote.path, "main", "main:next"], { outside });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
});

const resources = () => stage.client.beta.sessions.resources;

async function turn(session: string) {
  stage.rehearsal.use([text("Looked.")]);
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, "Look.");
  return collectUntil(stream, endsTurn);
}

/** Claude Code may remove temporary files and folders meanwhile. */
async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** `readdir` fails as a whole if one of the folders below is removed meanwhile. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? [];
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

async function repositoryOf(session: string) {
  const [found] = (await resources().list(session)).data;
  return found as BetaManagedAgentsGitHubRepositoryResource & { tandem: { commit?: string } };
}

test("a repository is cloned with a token that is nowhere afterwards", async () => {
  const session = await stage.session({
    resources: [
      {
        type: "github_repository",
        url: remote.url,
        authorization_token: TOKEN,
        checkout: { type: "branch", name: "next" },
      },
    ],
  });
  expect(await repositoryOf(session)).toMatchObject({
    type: "github_repository",
    id: expect.stringMatching(/^sesrsc_/),
    url: remote.url,
    mount_path: "/workspace/shop",
    checkout: { type: "branch", name: "next" },
  });
  await turn(session);
  const shop = join(stage.folder, "shop");
  expect((await git(shop, ["symbolic-ref", "--short", "HEAD"])).trim()).toBe("next");
  const { tandem } = await repositoryOf(session);
  expect(stage.rehearsal.modelRequests.at(-1)!.system).toContain(`/workspace/shop: ${shop}`);
  expect(stage.rehearsal.modelRequests.at(-1)!.system).toContain(tandem.commit);
  const said = JSON.stringify([
    await stage.client.beta.sessions.retrieve(session),
    (await stage.client.beta.sessions.events.list(session)).data,
    stage.rehearsal.modelRequests,
    stage.server.log,
  ]);
  expect(said).not.toContain(TOKEN);
  const read: string[] = [];
  await Promise.all(
    (await filesBelow(dirname(stage.folder))).map(async (path) => {
      const bytes = await unlessGone(readFile(path));
      if (bytes) read.push(path);
      expect(bytes?.includes(TOKEN) ?? false, path).toBe(false);
    }),
  );
  expect(read).toContain(stage.database);
});

test("a session continues without a repository, and a new token fetches it with the next turn", async () => {
  const session = await stage.session({
    resources: [
      { type: "github_repository", url: remote.url, authorization_token: "wrong", mount_path: "/workspace/later" },
    ],
  });
  const events = await turn(session);
  expect(events.find(({ type }) => type === "session.error")).toMatchObject({
    error: {
      type: "repository_authentication_error",
      repository_url: remote.url,
      retry_status: { type: "retrying" },
    },
  });
  const { id } = await repositoryOf(session);
  const updated = await resources().update(id, { session_id: session, authorization_token: TOKEN });
  expect(JSON.stringify(updated)).not.toContain(TOKEN);
  await turn(session);
  expect(existsSync(join(stage.folder, "later/.git"))).toBe(true);

  await resources().delete(id, { session_id: session });
  expect((await resources().list(session)).data).toEqual([]);
  // The clone may contain work.
  expect(existsSync(join(stage.folder, "later/.git"))).toBe(true);
});

test("remotes that need the server's own keys, and secrets of the server, are refused", async () => {
  const create = (url: string, more = {}) =>
    stage.session({ resources: [{ type: "github_repository", url, ...more }] });
  await expect(create("git@github.com:a/b")).rejects.toThrow(BadRequestError);
  await expect(create("http://example.com/a/b")).rejects.toThrow(BadRequestError);
  await expect(create("https://user:pass@example.com/a/b")).rejects.toThrow(BadRequestError);
  await expect(create("/etc")).rejects.toThrow(PermissionDeniedError);
  await expect(create(remote.url, { mount_path: "/opt/shop" })).rejects.toThrow(BadRequestError);

  const agent = await stage.agent();
  const runner = new Anthropic({ apiKey: await stage.server.secretFor("run"), baseURL: stage.server.url });
  const asRunner = (more: object, mount_path: string) =>
    runner.beta.sessions.create({
      agent,
      environment_id: "env_local",
      resources: [{ type: "github_repository", url: `${remote.origin}/other.git`, mount_path, ...more }],
    });
  await expect(asRunner({ authorization_token: "env:HOME" }, "/workspace/a")).rejects.toThrow(PermissionDeniedError);
  // A token with the scope `run` does not reach this machine's network.
  const { id } = await asRunner({}, "/workspace/b");
  const events = await turn(id);
  expect(events.find(({ type }) => type === "session.error")).toMatchObject({
    error: { type: "repository_forbidden_error", message: expect.stringContaining("private address") },
  });
});
