import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExpiry } from "./read-expiry.ts";
import { reportCredentials, type CredentialReport } from "./report-credentials.ts";
import { scratchHome, storedLogin } from "./testing/plant.ts";

const stateOf = (report: CredentialReport, end: string) => report.places.find(({ id }) => id.endsWith(end))?.state;

test("an empty machine has no places, no payer and no notices", async () => {
  await using home = await scratchHome();
  const report = await reportCredentials(home.options());
  expect(report.places).toEqual([]);
  expect(report.claudeCode).toEqual({ sends: {}, payer: "nobody" });
  expect(report.login).toEqual({ payer: "nobody" });
  expect(report.notices).toEqual([]);
});

test("blank variables and files count as absent", async () => {
  await using home = await scratchHome();
  await home.plant(join(home.home, ".claude.json"), { primaryApiKey: "", apiKey: " " });
  await home.plant(join(home.configDir, ".credentials.json"), storedLogin({ accessToken: "", refreshToken: "" }));
  await home.plant(join(home.configDir, "settings.json"), { apiKeyHelper: "" });
  const report = await reportCredentials(home.options({ ANTHROPIC_API_KEY: "", CLAUDE_CODE_USE_BEDROCK: "0" }));
  expect(report.places).toEqual([]);
  expect(report.claudeCode.payer).toBe("nobody");
});

test("a login reports its expiry, whether it can be refreshed, and its plan", async () => {
  await using home = await scratchHome();
  const expiresAt = Date.now() - 60_000;
  await home.plant(join(home.configDir, ".credentials.json"), storedLogin({ expiresAt, subscriptionType: "pro" }));
  const report = await reportCredentials(home.options());
  expect(report.places.find(({ group }) => group === "login")?.login).toEqual({
    expiresAt: new Date(expiresAt),
    expired: true,
    renewable: true,
    plan: "pro",
    scopes: ["user:inference", "user:profile"],
  });
  expect(report.claudeCode).toMatchObject({ sends: { authorization: expect.any(String) }, payer: "subscription" });
});

test("a login without a refresh token cannot be refreshed", async () => {
  await using home = await scratchHome();
  await home.plant(join(home.configDir, ".credentials.json"), storedLogin({ refreshToken: undefined }));
  const report = await reportCredentials(home.options());
  expect(report.places.find(({ group }) => group === "login")).toMatchObject({
    state: "found",
    login: { renewable: false },
  });
});

test.each([
  ["milliseconds", 1_900_000_000_000],
  ["seconds", 1_900_000_000],
  ["digits", "1900000000000"],
  ["RFC 3339", "2030-03-17T17:46:40Z"],
  ["RFC 3339 with an offset", "2030-03-17T19:46:40+02:00"],
])("an expiry in %s", (_, value) => {
  expect(readExpiry(value)?.toISOString()).toBe("2030-03-17T17:46:40.000Z");
});

test.each([null, undefined, "soon", {}, Number.NaN, Infinity, "2030-99-99T00:00:00Z"])("no expiry: %s", (value) => {
  expect(readExpiry(value)).toBeUndefined();
});

test("CLAUDE_CONFIG_DIR and an old state file move the login and the state file", async () => {
  await using home = await scratchHome();
  const dir = join(home.root, "elsewhere");
  await home.plant(join(home.configDir, ".credentials.json"), storedLogin());
  await home.plant(join(dir, ".claude.json"), { primaryApiKey: "made up" });
  const moved = await reportCredentials(home.options({ CLAUDE_CONFIG_DIR: dir }));
  expect(moved.configDir).toEqual({ path: dir, chosenBy: "CLAUDE_CONFIG_DIR" });
  expect(moved.claudeCode.sends).toEqual({ "x-api-key": `${dir}/.claude.json primaryApiKey` });
  expect(moved.login).toMatchObject({ payer: "api_account" });
  await home.plant(join(dir, ".config.json"), { primaryApiKey: "" });
  expect((await reportCredentials(home.options({ CLAUDE_CONFIG_DIR: dir }))).claudeCode.payer).toBe("nobody");
  const empty = await reportCredentials(home.options({ CLAUDE_CONFIG_DIR: "" }));
  expect(empty.configDir).toEqual({ path: home.configDir, chosenBy: "default" });
  expect(empty.notices).toMatchObject([{ about: "CLAUDE_CONFIG_DIR" }]);
});

test("reports unreadable files with place and reason, and reads the rest", async () => {
  await using home = await scratchHome();
  await home.plant(join(home.home, ".claude.json"), '{ "primaryApiKey": in-the-clear');
  await home.plant(join(home.configDir, "settings.json"), "[1]");
  await mkdir(join(home.configDir, ".credentials.json"), { recursive: true });
  const report = await reportCredentials(home.options({ ANTHROPIC_API_KEY: "made up" }));
  expect(stateOf(report, "/.claude.json")).toBe("malformed");
  expect(stateOf(report, "settings.json")).toBe("malformed");
  expect(stateOf(report, ".credentials.json")).toBe("unreadable");
  expect(report.notices.map(({ about }) => about.replace(home.root, ""))).toEqual([
    "/home/.claude/settings.json",
    "/home/.claude.json",
    "/home/.claude/.credentials.json",
  ]);
  expect(JSON.stringify(report)).not.toContain("in-the-clear");
  expect(report.claudeCode).toMatchObject({ sends: { "x-api-key": "ANTHROPIC_API_KEY" }, payer: "api_account" });
});

test.skipIf(process.platform === "win32")("a file with a credential that others can read is warned of", async () => {
  await using home = await scratchHome();
  const file = join(home.configDir, ".credentials.json");
  await home.plant(file, storedLogin(), 0o644);
  await home.plant(join(home.home, ".claude.json"), { numStartups: 3 }, 0o644);
  expect((await reportCredentials(home.options())).notices).toEqual([
    { about: file, text: expect.stringContaining("can read it"), fix: `chmod 600 ${file}` },
  ]);
  await chmod(file, 0o600);
  expect((await reportCredentials(home.options())).notices).toEqual([]);
});

test("queries the keychain for names only, never for secrets", async () => {
  await using home = await scratchHome();
  const bin = join(home.root, "bin");
  const calls = join(home.root, "calls");
  await mkdir(bin);
  const script = `#!/bin/sh\necho "$@" >> '${calls}'\ncase "$*" in *credentials*) exit 0;; esac\nexit 44\n`;
  await writeFile(join(bin, "security"), script, { mode: 0o755 });
  const options = home.options({ PATH: `${bin}:/usr/bin:/bin` }, { platform: "darwin" });
  const report = await reportCredentials(options);
  expect(report.places.filter(({ group }) => group === "keychain")).toMatchObject([
    { id: "keychain: Claude Code-credentials", kind: "login", state: "found" },
  ]);
  expect(report.claudeCode).toMatchObject({ payer: "subscription" });
  const { readFile } = await import("node:fs/promises");
  expect((await readFile(calls, "utf8")).split("\n").filter(Boolean).toSorted()).toEqual([
    "find-generic-password -s Claude Code",
    "find-generic-password -s Claude Code-credentials",
  ]);
});

test("reports CLAUDE_API_KEY as found but unused", async () => {
  await using home = await scratchHome();
  const report = await reportCredentials(home.options({ CLAUDE_API_KEY: "made up" }));
  expect(report.places).toMatchObject([{ id: "CLAUDE_API_KEY", readBy: "nobody" }]);
  expect(report.claudeCode).toEqual({ sends: {}, payer: "nobody" });
});
