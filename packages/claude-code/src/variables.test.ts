import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  childVariables,
  DENIED_VARIABLES,
  dropForeignVariables,
  folderVariables,
  inheritedVariables,
  isDenied,
  overridingVariables,
} from "./variables.ts";

/** Every denied name, with an example for each wildcard. */
const seeded = Object.fromEntries(DENIED_VARIABLES.map((name) => [name.replace(/\*$/, "SOMETHING"), "stray"]));

/** Required names, so that an edit of the list cannot drop them. */
const REQUIRED = `ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_MODEL
  ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT
  AWS_ACCESS_KEY_ID AWS_PROFILE AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION
  CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_FOUNDRY
  ANTHROPIC_CUSTOM_HEADERS NODE_OPTIONS LD_PRELOAD CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR
  ANTHROPIC_DEFAULT_SONNET_MODEL CLAUDE_CODE_REMOTE_SETTINGS_PATH`.split(/\s+/);

describe("environment of the child", () => {
  test.each(REQUIRED)("%s is denied", (name) => expect(isDenied(name)).toBe(true));

  test("contains no denied name, whatever the host has", () => {
    const variables = childVariables({ ...seeded, PATH: "/bin" }, { type: "login" }, "/home/u/.claude");
    expect(Object.keys(variables).filter(isDenied)).toEqual([]);
    expect(Object.values(variables)).not.toContain("stray");
    expect(variables).toMatchObject({ PATH: "/bin", CLAUDE_CONFIG_DIR: "/home/u/.claude" });
  });

  test("contains only the variable of the chosen credential", () => {
    const key = childVariables(seeded, { type: "api_key", key: "sk-1", baseUrl: "http://127.0.0.1:1" }, "/s");
    expect(Object.entries(key).filter(([name]) => isDenied(name))).toEqual([
      ["CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "3"],
      ["ANTHROPIC_BASE_URL", "http://127.0.0.1:1"],
    ]);
    const token = childVariables(seeded, { type: "oauth_token", token: "oat-1" }, "/s");
    expect(Object.entries(token).filter(([name]) => isDenied(name))).toEqual([
      ["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "3"],
    ]);
  });

  test("passes on network, locale and home variables only", () => {
    const host = {
      HOME: "/h",
      HTTPS_PROXY: "p",
      NODE_EXTRA_CA_CERTS: "c",
      LC_ALL: "x",
      MY_SECRET: "s",
      SSH_AUTH_SOCK: "a",
      GITHUB_TOKEN: "g",
    };
    const variables = childVariables(host, { type: "login" }, undefined);
    expect(variables).toMatchObject({ HOME: "/h", HTTPS_PROXY: "p", NODE_EXTRA_CA_CERTS: "c", LC_ALL: "x" });
    for (const name of ["MY_SECRET", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "CLAUDE_CONFIG_DIR"])
      expect(variables).not.toHaveProperty(name);
  });
});

test("passes on variables of a trusted folder, except those that load code or replace programs", () => {
  const loaders = `BASH_ENV ENV GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 PYTHONPATH PYTHONSTARTUP PERL5LIB
    PERL5OPT RUBYOPT LD_AUDIT LD_PRELOAD DYLD_INSERT_LIBRARIES NODE_OPTIONS bash_env`.split(/\s+/);
  const set = Object.fromEntries([...loaders, "GREETING", "NODENV", "ENVIRONMENT"].map((name) => [name, "x"]));
  expect(Object.keys(folderVariables(set))).toEqual(["GREETING", "NODENV", "ENVIRONMENT"]);
});

test.each([".claude.json", ".claude/.config.json"])(
  "variables of the state file %s are overridden by name",
  async (name) => {
    const home = await mkdtemp(join(tmpdir(), "tandem-variables-"));
    try {
      await mkdir(join(home, ".claude"));
      await writeFile(join(home, name), JSON.stringify({ env: { SOME_ROUTE: "elsewhere" } }));
      expect(overridingVariables({ HOME: home }, { type: "login" })).toMatchObject({ SOME_ROUTE: "" });
      // The user's own files are never changed.
      dropForeignVariables({ HOME: home });
      expect(existsSync(join(home, name))).toBe(true);
      const own = { HOME: home, CLAUDE_CONFIG_DIR: join(home, ".claude") };
      await writeFile(join(home, ".claude", ".config.json"), JSON.stringify({ env: { SOME_ROUTE: "elsewhere" } }));
      dropForeignVariables(own);
      expect(overridingVariables(own, { type: "login" })).not.toHaveProperty("SOME_ROUTE");
    } finally {
      await rm(home, { recursive: true });
    }
  },
);

test("children do not take files that look like a bare repository for one", () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-bare-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["objects", "refs"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(
    join(folder, "config"),
    `[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = "touch ${folder}/ran; false"\n`,
  );
  const status = (env: Record<string, string>): void => {
    spawnSync("git", ["status"], { cwd: folder, env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null", HOME: folder } });
  };
  status(inheritedVariables({ PATH: process.env["PATH"], GIT_CONFIG_COUNT: "0" }));
  expect(existsSync(join(folder, "ran"))).toBe(false);
  status({ PATH: process.env["PATH"] ?? "" });
  expect(existsSync(join(folder, "ran"))).toBe(true);
});
