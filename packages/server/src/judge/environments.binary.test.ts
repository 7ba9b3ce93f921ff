import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BadRequestError, ConflictError, NotFoundError, PermissionDeniedError } from "@anthropic-ai/sdk";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage({ engine: () => ({ sandbox: { mode: "off" } }) });
afterAll(() => stage[Symbol.asyncDispose]());

const environments = () => stage.client.beta.environments;

test("the built-in environment exists, is the server's folder, and cannot be removed", async () => {
  const local = await environments().retrieve("env_local");
  expect(local).toMatchObject({ type: "environment", metadata: { "tandem.path": stage.folder }, archived_at: null });
  for await (const first of environments().list()) {
    expect(first.id).toBe("env_local");
    break;
  }
  await expect(environments().delete("env_local")).rejects.toThrow(PermissionDeniedError);
});

test("create, update, archive and delete", async () => {
  const path = join(stage.folder, "inner");
  await mkdir(path);
  const made = await environments().create({
    name: "inner",
    config: { type: "cloud", networking: { type: "unrestricted" } },
    metadata: { "tandem.path": path },
  });
  expect(made).toMatchObject({
    name: "inner",
    description: null,
    config: { type: "cloud" },
    metadata: { "tandem.path": path },
  });
  const updated = await environments().update(made.id, { description: "Inside.", metadata: { note: "x" } });
  expect(updated).toMatchObject({ description: "Inside.", metadata: { "tandem.path": path, note: "x" } });
  const session = await stage.session({ environment_id: made.id });
  await expect(environments().delete(made.id)).rejects.toThrow(ConflictError);
  await stage.client.beta.sessions.delete(session);
  expect((await environments().archive(made.id)).archived_at).not.toBeNull();
  const agent = await stage.agent();
  const refused = stage.client.beta.sessions.create({ agent, environment_id: made.id });
  await expect(refused).rejects.toThrow(BadRequestError);
  await expect(refused).rejects.toMatchObject({
    error: { error: { details: { error_code: "environment_archived" } } },
  });
  expect(await environments().delete(made.id)).toEqual({ type: "environment_deleted", id: made.id });
  await expect(environments().retrieve(made.id)).rejects.toThrow(NotFoundError);
});

test.each([
  ["packages", { type: "cloud", packages: { pip: ["numpy"] } }],
  ["change the system", { type: "cloud", packages: { apt: ["curl"] } }],
  ["networking", { type: "cloud", networking: { type: "limited", allowed_hosts: ["example.org"] } }],
] as const)("a setting that this machine cannot honor (%s) is refused, not ignored", async (word, config) => {
  const refused = environments().create({ name: "x", config: config as never });
  await expect(refused).rejects.toThrow(BadRequestError);
  await expect(refused).rejects.toThrow(word);
});

test("a folder outside the roots is forbidden", async () => {
  const outside = environments().create({ name: "x", metadata: { "tandem.path": "/etc" } });
  await expect(outside).rejects.toThrow(PermissionDeniedError);
});
