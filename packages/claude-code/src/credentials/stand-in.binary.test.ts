import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { always, madeUpLogin, text, unauthorized } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { findExecutable } from "../executable.ts";
import { setStage, type Stage } from "../testing/claude-stage.ts";
import { makeStandIn } from "./stand-in.ts";

const place = (stage: Stage) => ({
  configDir: join(stage.stateFolder, "session"),
  executable: findExecutable(),
  hostVariables: stage.hostVariables,
});
const refreshes = ({ rehearsal }: Stage) => rehearsal.requests.filter(({ path }) => path === "/v1/oauth/token");

test("the stand-in of a login has neither of its tokens; requests get the stored access token", async () => {
  await using stage = await setStage();
  const { accessToken, refreshToken } = await madeUpLogin(stage.configDir);
  const { configDir } = place(stage);
  const standIn = await makeStandIn(stage.login, place(stage));
  expect(standIn.credential).toEqual({ type: "login", configDir });
  const written = await readFile(join(configDir, ".credentials.json"), "utf8");
  expect(written).not.toContain(accessToken);
  expect(written).not.toContain(refreshToken);
  expect(JSON.parse(written)).toMatchObject({ claudeAiOauth: { refreshToken: null, subscriptionType: "max" } });
  expect((await standIn.upstream()).headers).toEqual({ authorization: `Bearer ${accessToken}` });
  expect(refreshes(stage)).toEqual([]);
});

test("Claude Code outside refreshes a token that is about to expire, once for all requests", async () => {
  await using stage = await setStage();
  const login = await madeUpLogin(stage.configDir);
  const standIn = await makeStandIn(stage.login, place(stage));
  await madeUpLogin(stage.configDir, { expiresAt: new Date(Date.now() + 60_000) });
  const [one, two] = await Promise.all([standIn.upstream(), standIn.upstream()]);
  const stored = JSON.parse(await readFile(login.file, "utf8")).claudeAiOauth.accessToken;
  expect(one.headers["authorization"]).toBe(`Bearer ${stored}`);
  expect(two.headers).toEqual(one.headers);
  expect(refreshes(stage)).toHaveLength(1);
});

test("a refused refresh: requests report a missing login instead of sending an expired token for ever", async () => {
  await using stage = await setStage([], { refresh: "invalid_grant" });
  const standIn = await makeStandIn(stage.login, place(stage));
  await madeUpLogin(stage.configDir, { expiresAt: new Date(Date.now() - 60_000) });
  await expect(standIn.upstream()).rejects.toMatchObject({ code: "not_logged_in" });
  expect(refreshes(stage)).toHaveLength(1);
});

test("a token that was revoked before its end: Claude Code outside renews it, once for all requests", async () => {
  await using stage = await setStage();
  const { accessToken, file } = await madeUpLogin(stage.configDir);
  const standIn = await makeStandIn(stage.login, place(stage));
  stage.rehearsal.use([
    always(({ headers }) => (headers.authorization === `Bearer ${accessToken}` ? unauthorized() : text("OK"))),
  ]);
  const [one, two] = await Promise.all([standIn.upstream(), standIn.upstream()]);
  expect(await Promise.all([one.renew!(), two.renew!()])).toEqual([true, true]);
  const stored = JSON.parse(await readFile(file, "utf8")).claudeAiOauth.accessToken;
  expect(stored).not.toBe(accessToken);
  expect((await standIn.upstream()).headers).toEqual({ authorization: `Bearer ${stored}` });
  expect(refreshes(stage)).toHaveLength(1);
});

test("a revoked login that cannot be renewed is asked for once", async () => {
  await using stage = await setStage([], { refresh: "invalid_grant" });
  const standIn = await makeStandIn(stage.login, place(stage));
  stage.rehearsal.use([always(unauthorized())]);
  const { renew } = await standIn.upstream();
  expect([await renew!(), await renew!()]).toEqual([false, false]);
  expect(refreshes(stage)).toHaveLength(1);
});

test("files that an agent left in Claude Code's folder are deleted, and links are not followed", async () => {
  await using stage = await setStage();
  const { configDir } = place(stage);
  const elsewhere = join(stage.home, "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "kept.txt"), "kept");
  await mkdir(join(configDir, "plans"), { recursive: true });
  await symlink(elsewhere, join(configDir, "projects"));
  await symlink(join(elsewhere, "kept.txt"), join(configDir, ".credentials.json"));
  await writeFile(join(configDir, ".claude.json"), '{"env":{"ANTHROPIC_BASE_URL":"http://elsewhere"}}');
  await makeStandIn(stage.apiKey, place(stage));
  expect(await readdir(configDir)).toEqual(["plans"]);
  expect(await readFile(join(elsewhere, "kept.txt"), "utf8")).toBe("kept");
});
