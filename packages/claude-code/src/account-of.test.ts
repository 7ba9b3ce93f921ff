import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { accountOf } from "./account-of.ts";

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-account-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("hashes a key to the same account everywhere, different keys to different accounts, without revealing the key", async () => {
  const key = "sk-ant-made-up";
  const name = await accountOf({ type: "api_key", key }, {});
  expect(name).toMatch(/^api_key:[0-9a-f]{16}$/);
  expect(await accountOf({ type: "api_key", key }, { HOME: "/elsewhere" })).toBe(name);
  expect(await accountOf({ type: "api_key", key: `${key}-2` }, {})).not.toBe(name);
  expect(await accountOf({ type: "api_key", key, baseUrl: "https://gateway.example" }, {})).not.toBe(name);
  expect(await accountOf({ type: "oauth_token", token: key }, {})).toMatch(/^oauth_token:/);
});

test("identifies a login by its account, or by this machine's folder if the account is unknown", async () => {
  const [laptop, desktop] = [await scratch(), await scratch()];
  const state = JSON.stringify({ oauthAccount: { accountUuid: "made-up-account" }, projects: {} });
  const before = await accountOf({ type: "login" }, { HOME: laptop });
  expect(await accountOf({ type: "login" }, { HOME: desktop })).not.toBe(before);
  await writeFile(join(laptop, ".claude.json"), state);
  const configDir = join(desktop, "claude");
  await mkdir(configDir);
  await writeFile(join(configDir, ".claude.json"), state);
  const after = await accountOf({ type: "login" }, { HOME: laptop });
  expect(after).not.toBe(before);
  expect(await accountOf({ type: "login", configDir }, { HOME: desktop })).toBe(after);
  await writeFile(join(laptop, ".claude.json"), "{ half");
  expect(await accountOf({ type: "login" }, { HOME: laptop })).toBe(before);
});
