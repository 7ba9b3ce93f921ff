import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { madeUpLogin } from "@tandem/rehearsal";
import { expect, inject, test } from "vitest";
import { findExecutable } from "./executable.ts";
import { probeLogin, type LoginProbe } from "./probe-login.ts";
import { plantHostileHome } from "./testing/hostile-home.ts";
import { setStage, type Stage } from "./testing/claude-stage.ts";

const probe = (
  stage: Stage,
  extra: Record<string, string> = {},
  deadlineMs = 60_000 * inject("slowness"),
): Promise<LoginProbe> =>
  probeLogin({
    hostVariables: { ...stage.hostVariables, CLAUDE_CONFIG_DIR: stage.configDir, ...extra },
    executable: findExecutable(),
    deadlineMs,
  });

test("logged in: reports the payer, sends no model request and refreshes no token", async () => {
  await using stage = await setStage();
  const result = await probe(stage);
  expect(result).toMatchObject({ state: "logged_in", account: { kind: "subscription", plan: "max" } });
  expect(stage.rehearsal.modelRequests).toEqual([]);
  expect(stage.rehearsal.requests.filter(({ path }) => path.includes("oauth"))).toEqual([]);
});

test("logged out, even with a stray API key, or a key or a helper in the user's settings", async () => {
  await using stage = await setStage([], { loggedIn: false });
  const evidence = join(stage.home, "evidence");
  await plantHostileHome({ ...stage, project: stage.home, evidence, elsewhere: stage.rehearsal.url });
  const stray = { ANTHROPIC_API_KEY: "sk-ant-stray", ANTHROPIC_AUTH_TOKEN: "stray", CLAUDE_CODE_OAUTH_TOKEN: "stray" };
  expect(await probe(stage, stray)).toMatchObject({ state: "logged_out" });
});

test.each([
  ["a minute ago", () => Date.now() - 60_000],
  ["at the beginning of time", () => 0],
])("expired by its stored date, %s, and left unchanged", async (_, expiresAt) => {
  await using stage = await setStage();
  const { file } = await madeUpLogin(stage.configDir, { expiresAt: new Date(expiresAt()), refreshToken: null });
  const before = await readFile(file, "utf8");
  expect(await probe(stage)).toMatchObject({ state: "expired" });
  expect(await readFile(file, "utf8")).toBe(before);
});

test("expired, with a readable date", async () => {
  await using stage = await setStage();
  const { file } = await madeUpLogin(stage.configDir, { expiresAt: new Date(0), refreshToken: null });
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace('"expiresAt":0', '"expiresAt":"2024-01-01T00:00:00Z"'));
  expect(await probe(stage)).toMatchObject({ state: "expired", detail: expect.stringContaining("2024-01-01") });
});

test("unreachable: a login exists, but the API does not answer", async () => {
  await using stage = await setStage();
  expect(await probe(stage, { HTTPS_PROXY: "http://127.0.0.1:9" })).toMatchObject({ state: "unreachable" });
});

test("keeps its deadline", async () => {
  await using stage = await setStage();
  const since = performance.now();
  expect(await probe(stage, {}, 10)).toMatchObject({ detail: expect.stringContaining("did not say in time") });
  expect(performance.now() - since).toBeLessThan(10_000 * inject("slowness"));
});

test("keeps its deadline with a proxy that accepts and never answers", async () => {
  await using stage = await setStage();
  await using proxy = createServer((socket) => void socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  expect(await probe(stage, { HTTPS_PROXY }, 10_000 * inject("slowness"))).toMatchObject({ state: "unreachable" });
});

test("a refreshable token is a login, which the probe does not refresh; a proxy or a key in the user's settings affects neither the answer nor the login", async () => {
  await using stage = await setStage([], { refresh: "invalid_grant" });
  const { file } = await madeUpLogin(stage.configDir, { expiresAt: new Date(Date.now() - 60_000) });
  const evidence = join(stage.home, "evidence");
  await plantHostileHome({ ...stage, project: stage.home, evidence, elsewhere: stage.rehearsal.url });
  const env = { ...stage.rehearsal.proxy.variables, NO_PROXY: "" };
  await writeFile(join(stage.configDir, "settings.json"), JSON.stringify({ env, apiKeyHelper: "echo sk-ant-helper" }));
  await writeFile(join(stage.configDir, ".claude.json"), JSON.stringify({ env }));
  const before = await readFile(file, "utf8");
  expect(await probe(stage)).toMatchObject({ state: "logged_in" });
  expect(await readFile(file, "utf8")).toBe(before);
  expect(stage.rehearsal.requests.filter(({ path }) => path.includes("oauth"))).toEqual([]);
});
