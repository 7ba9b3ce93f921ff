import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Outcome } from "../../testing/open-command.ts";
import { scratchMachine } from "../../testing/run-tandem.ts";

type Machine = Awaited<ReturnType<typeof scratchMachine>>;

/** Each test starts several commands. */

const MARK = "PLANTEDvalue";
const value = (name: string): string => `sk-ant-${MARK}-${name}`;

/** Writes a fake credential to every place that the report reads. */
async function plantAll({ variables: { CLAUDE_CONFIG_DIR } }: Machine): Promise<Record<string, string>> {
  const login = {
    accessToken: value("access"),
    refreshToken: value("refresh"),
    expiresAt: "2024-01-01T00:00:00Z",
    scopes: ["user:inference", value("scope")],
    subscriptionType: value("plan"),
  };
  const keys = { primaryApiKey: value("a"), apiKey: value("b"), anthropicApiKey: value("c"), customApiKey: value("d") };
  const files: Record<string, unknown> = {
    [join(CLAUDE_CONFIG_DIR, ".credentials.json")]: { claudeAiOauth: login },
    [join(CLAUDE_CONFIG_DIR, ".claude.json")]: { ...keys, env: { ANTHROPIC_AUTH_TOKEN: value("env") } },
    [join(CLAUDE_CONFIG_DIR, "settings.json")]: {
      apiKeyHelper: `echo ${value("helper")}`,
      env: { ANTHROPIC_API_KEY: value("settings") },
    },
  };
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
    await chmod(file, 0o644);
  }
  return {
    ANTHROPIC_API_KEY: value("key"),
    CLAUDE_API_KEY: value("claude"),
    ANTHROPIC_AUTH_TOKEN: value("token"),
    CLAUDE_CODE_OAUTH_TOKEN: value("oauth"),
    ANTHROPIC_CUSTOM_HEADERS: `Authorization: Bearer ${value("header")}`,
    ANTHROPIC_BASE_URL: `https://user:${value("password")}@gateway.example/${value("path")}`,
    CLAUDE_CODE_USE_BEDROCK: value("switch"),
  };
}

async function filesUnder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
}

test("never shows a credential: not in text, JSON, errors or Tandem's own files", async () => {
  await using machine = await scratchMachine("llm:\n  claudeCode: { auth: api_key }\n");
  const env = await plantAll(machine);
  const outcomes: Outcome[] = [];
  for (const args of [["credentials"], ["credentials", "--json"], ["credentials", "--debug"], ["status"], ["doctor"]]) {
    outcomes.push(await machine.run(args, { env }));
  }
  const [text, json] = outcomes;
  expect(text).toMatchObject({ code: 0, stderr: "" });
  const { places } = JSON.parse(json!.stdout) as { places: { id: string; state: string }[] };
  expect(places.filter(({ state }) => state === "found").length).toBeGreaterThan(9);
  for (const { stdout, stderr } of outcomes) expect(stdout + stderr).not.toContain(MARK);
  expect(await filesUnder(machine.variables.TANDEM_HOME)).not.toContain(MARK);
});

test("names the credentials of Claude Code and of Tandem, with the reason", async () => {
  await using machine = await scratchMachine("llm:\n  claudeCode:\n    auth: api_key\n    apiKey: env:WORK_KEY\n");
  await mkdir(machine.variables.CLAUDE_CONFIG_DIR, { recursive: true });
  const login = { accessToken: "x", refreshToken: "x", expiresAt: 4_000_000_000_000, scopes: ["user:inference"] };
  const file = join(machine.variables.CLAUDE_CONFIG_DIR, ".credentials.json");
  await writeFile(file, JSON.stringify({ claudeAiOauth: { ...login, subscriptionType: "team" } }), { mode: 0o600 });
  const read = async (env: Record<string, string>) =>
    JSON.parse((await machine.run(["credentials", "--json"], { env })).stdout) as Record<string, unknown>;
  expect(await read({ WORK_KEY: "made up" })).toMatchObject({
    claude_code: { sends: { authorization: file }, payer: "subscription" },
    login: { place: file, payer: "subscription" },
    tandem: [
      { for: "calls", backend: "none", source: null, state: "none_needed" },
      {
        for: "sessions",
        source: "env:WORK_KEY",
        state: "found",
        payer: "anthropic_api_key",
        because: expect.stringMatching(/^llm\.claudeCode\.auth: api_key, line 3 of .*tandem\.yaml$/),
      },
    ],
    notices: [],
  });
  // An empty variable counts as absent.
  expect(await read({ WORK_KEY: " " })).toMatchObject({ tandem: [{}, { source: "env:WORK_KEY", state: "absent" }] });
  const { stdout } = await machine.run(["credentials"]);
  expect(stdout).toMatch(/\.credentials\.json +login +ignored +team, until 2096-10-02T07:06:40Z, renews automatically/);
  expect(stdout).toMatch(/Claude Code alone .*billed to the Claude subscription/);
  expect(stdout).toMatch(/Tandem, for sessions +env:WORK_KEY, absent/);
});

test("without a config, sessions use the login; an expired login is reported", async () => {
  await using machine = await scratchMachine();
  const look = async () => (await machine.run(["credentials"])).stdout;
  expect(await look()).toMatch(/Tandem, for sessions +no login +\(llm\.claudeCode\.auth: login, the default\)/);
  await mkdir(machine.variables.CLAUDE_CONFIG_DIR, { recursive: true });
  const login = { accessToken: "x", expiresAt: 1_000_000_000, scopes: ["user:inference"] };
  await writeFile(
    join(machine.variables.CLAUDE_CONFIG_DIR, ".credentials.json"),
    JSON.stringify({ claudeAiOauth: login }),
    { mode: 0o600 },
  );
  expect(await look()).toMatch(/Tandem, for sessions +.*\.credentials\.json, expired +log in again/);
});
