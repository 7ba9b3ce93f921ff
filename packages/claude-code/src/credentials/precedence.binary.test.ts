import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { always, madeUpLogin, startRehearsal, text } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { findExecutable } from "../executable.ts";
import { reportCredentials } from "./report-credentials.ts";
import { scratchHome } from "./testing/plant.ts";

afterAll(() => rehearsal.close());

type Home = Awaited<ReturnType<typeof scratchHome>>;
const LOGIN = "the login";

interface Case {
  variables?: Record<string, string>;
  /** Relative to the home; `project/…` is relative to the working folder. */
  files?: Record<string, unknown>;
  login?: boolean | Record<string, unknown>;
  /** The credentials that Claude Code sends. */
  sends: Partial<Record<"x-api-key" | "authorization", string>>;
}

const key = (value: string) => ({ env: { ANTHROPIC_API_KEY: `sk-ant-${value}` } });
const [API_KEY, AUTH_TOKEN, OAUTH_TOKEN] = [
  { ANTHROPIC_API_KEY: "sk-ant-key" },
  { ANTHROPIC_AUTH_TOKEN: "token" },
  { CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-token" },
];
const rehearsal = await startRehearsal([], { proxy: true });
const HELPER = { ".claude/settings.json": { apiKeyHelper: "echo sk-ant-helped" } };
const CONSOLE = { ".claude.json": { primaryApiKey: "sk-ant-console" } };

// A distinct value per location, so that the received value identifies its source.
const ORIGINS: Record<string, RegExp> = {
  "sk-ant-key": /^ANTHROPIC_API_KEY$/,
  token: /^ANTHROPIC_AUTH_TOKEN$/,
  "sk-ant-oat01-token": /^CLAUDE_CODE_OAUTH_TOKEN$/,
  "sk-ant-helped": /home\/\.claude\/settings\.json apiKeyHelper$/,
  "sk-ant-local-helper": /project\/\.claude\/settings\.local\.json apiKeyHelper$/,
  "sk-ant-console": /\.claude\.json primaryApiKey$/,
  "sk-ant-old": /\.config\.json primaryApiKey$/,
  "sk-ant-user": /home\/\.claude\/settings\.json env\.ANTHROPIC_API_KEY$/,
  "sk-ant-project": /project\/\.claude\/settings\.json env\.ANTHROPIC_API_KEY$/,
  "sk-ant-state": /home\/\.claude\.json env\.ANTHROPIC_API_KEY$/,
  custom: /^ANTHROPIC_CUSTOM_HEADERS$/,
  [LOGIN]: /\.credentials\.json$/,
};

const cases: [string, Case][] = [
  ["nothing at all", { sends: {} }],
  ["a login", { sends: { authorization: LOGIN }, login: true }],
  [
    "a login that has ended and cannot be renewed",
    { sends: { authorization: LOGIN }, login: { expiresAt: new Date(0), refreshToken: null } },
  ],
  [
    "a subscription's token and a login",
    { sends: { authorization: "sk-ant-oat01-token" }, variables: OAUTH_TOKEN, login: true },
  ],
  ["a key and a login", { sends: { "x-api-key": "sk-ant-key" }, variables: API_KEY, login: true }],
  [
    "a key, a token and a login",
    {
      sends: { "x-api-key": "sk-ant-key", authorization: "token" },
      variables: { ...API_KEY, ...AUTH_TOKEN },
      login: true,
    },
  ],
  ["two tokens", { sends: { authorization: "token" }, variables: { ...AUTH_TOKEN, ...OAUTH_TOKEN } }],
  [
    "a helper, a subscription's token and a login",
    {
      sends: { "x-api-key": "sk-ant-helped", authorization: "sk-ant-helped" },
      variables: OAUTH_TOKEN,
      files: HELPER,
      login: true,
    },
  ],
  [
    "a key and a helper",
    { sends: { "x-api-key": "sk-ant-key", authorization: "sk-ant-helped" }, variables: API_KEY, files: HELPER },
  ],
  ["a Console account", { sends: { "x-api-key": "sk-ant-console" }, files: CONSOLE }],
  ["a login and a Console account", { sends: { authorization: LOGIN }, files: CONSOLE, login: true }],
  [
    "a token, a login and a Console account",
    {
      sends: { "x-api-key": "sk-ant-console", authorization: "token" },
      variables: AUTH_TOKEN,
      files: CONSOLE,
      login: true,
    },
  ],
  [
    "an old state file beside the new one",
    {
      sends: { "x-api-key": "sk-ant-old" },
      files: { ...CONSOLE, ".claude/.config.json": { primaryApiKey: "sk-ant-old" } },
    },
  ],
  [
    "a key in the state, and one in the process",
    { sends: { "x-api-key": "sk-ant-state" }, variables: API_KEY, files: { ".claude.json": key("state") } },
  ],
  [
    "keys in settings of the user and of the folder",
    {
      sends: { "x-api-key": "sk-ant-project" },
      files: { ".claude/settings.json": key("user"), "project/.claude/settings.json": key("project") },
    },
  ],
  [
    "a blank in the settings over a key",
    { sends: {}, variables: API_KEY, files: { ".claude/settings.json": { env: { ANTHROPIC_API_KEY: "" } } } },
  ],
  [
    "a helper of the folder's over the user's",
    {
      sends: { "x-api-key": "sk-ant-local-helper", authorization: "sk-ant-local-helper" },
      files: { ...HELPER, "project/.claude/settings.local.json": { apiKeyHelper: "echo sk-ant-local-helper" } },
    },
  ],
  [
    "a blank helper over the user's",
    { sends: {}, files: { ...HELPER, "project/.claude/settings.json": { apiKeyHelper: "" } } },
  ],
  [
    "a header over a login",
    {
      sends: { authorization: "custom" },
      variables: { ANTHROPIC_CUSTOM_HEADERS: "Authorization: Bearer custom" },
      login: true,
    },
  ],
  [
    "what only others read",
    {
      sends: {},
      variables: { CLAUDE_API_KEY: "sk-ant-x" },
      files: {
        ".claude.json": { apiKey: "sk-ant-x", customApiKey: "sk-ant-x" },
        ".claude.json.api": { primaryApiKey: "sk-ant-x" },
      },
    },
  ],
  [
    "empty variables and a login",
    { sends: { authorization: LOGIN }, variables: { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "" }, login: true },
  ],
  ["a cloud that is switched on, and a key", { sends: {}, variables: { ...API_KEY, CLAUDE_CODE_USE_BEDROCK: "true" } }],
  [
    "a cloud that is switched off, and a key",
    { sends: { "x-api-key": "sk-ant-key" }, variables: { ...API_KEY, CLAUDE_CODE_USE_BEDROCK: "0" } },
  ],
];

async function prepare({ variables = {}, files = {}, login }: Case) {
  const home = await scratchHome();
  for (const [name, content] of Object.entries(files)) {
    await home.plant(name.startsWith("project/") ? join(home.root, name) : join(home.home, name), content);
  }
  await mkdir(home.configDir, { recursive: true });
  const made = login ? await madeUpLogin(home.configDir, login === true ? {} : login) : undefined;
  const options = home.options({ ...variables, ...rehearsal.proxy.variables, NO_PROXY: "127.0.0.1" });
  return { home, options, token: made?.accessToken };
}

test.each(cases)("the report says what Claude Code sends: %s", async (_, one) => {
  const { home, options } = await prepare(one);
  await using _home = home;
  const { sends } = (await reportCredentials(options)).claudeCode;
  expect(Object.keys(sends).toSorted()).toEqual(Object.keys(one.sends).toSorted());
  for (const [header, value] of Object.entries(one.sends)) {
    expect(sends[header as keyof typeof sends], `${header} is ${value}`).toMatch(ORIGINS[value] ?? /^unknown origin$/);
  }
});

// Only another release of Claude Code changes these.
const SAMPLED = 6;
test.each(cases.filter((_, at) => inject("soak") || at % SAMPLED === 1))("Claude Code sends: %s", async (_, one) => {
  const { home, options, token } = await prepare(one);
  await using _home = home;
  const arrived = await whatArrives(home, options.variables);
  const named = Object.entries(arrived).map(([header, value]) => [header, value === token ? LOGIN : value]);
  expect(Object.fromEntries(named)).toEqual(one.sends);
});

/** The credentials of the single request that Claude Code sends when a program starts it. */
async function whatArrives(home: Home, variables: Record<string, string | undefined>): Promise<Record<string, string>> {
  rehearsal.use([always(text("Hello."))]);
  // Run in a copy, so that files written by the run do not affect the report.
  const copy = join(home.root, "run");
  await cp(home.home, copy, { recursive: true });
  const env = {
    ...variables,
    HOME: copy,
    CLAUDE_CODE_MAX_RETRIES: "0",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const child = spawn(findExecutable(), ["-p", "Say hello.", "--model", "sonnet"], {
    cwd: home.folder,
    env,
    stdio: "ignore",
    timeout: 240_000,
    killSignal: "SIGKILL",
  });
  await once(child, "close");
  const headers = rehearsal.modelRequests[0]?.headers;
  const key = headers?.["x-api-key"];
  const token = headers?.authorization?.replace("Bearer ", "");
  return { ...(typeof key === "string" && { "x-api-key": key }), ...(token && { authorization: token }) };
}
