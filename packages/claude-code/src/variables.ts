import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Credential } from "./credential.ts";

/** Allowlist of inherited variables: programs, home and login, network, locale. */
const ALLOWED = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP HTTP_PROXY HTTPS_PROXY ALL_PROXY
  NO_PROXY http_proxy https_proxy all_proxy no_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR
  USERPROFILE APPDATA LOCALAPPDATA SystemRoot SYSTEMROOT ComSpec PATHEXT ProgramFiles`.split(/\s+/),
);
const ALLOWED_PREFIXES = ["LC_"];

/**
 * Variables that must never reach a child unless we set them: they change billing, routing, the model, or the code that
 * the child loads. The allowlist already excludes them; this is a second safeguard, and the list that tests use. `*`
 * matches any suffix; known names are also listed in full, because only a full name can be blanked.
 */
const DENIED = {
  otherProviders: `CLAUDE_CODE_USE_* CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY
    CLAUDE_CODE_USE_ANTHROPIC_AWS CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD CLAUDE_CODE_USE_MANTLE
    CLAUDE_CODE_USE_GATEWAY CLAUDE_CODE_SKIP_* CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_SKIP_VERTEX_AUTH
    CLAUDE_CODE_SKIP_FOUNDRY_AUTH CLAUDE_CODE_SKIP_MANTLE_AUTH CLOUD_ML_REGION VERTEX_REGION_*
    ANTHROPIC_VERTEX_* ANTHROPIC_VERTEX_PROJECT_ID ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_FOUNDRY_*
    ANTHROPIC_FOUNDRY_RESOURCE ANTHROPIC_FOUNDRY_API_KEY ANTHROPIC_FOUNDRY_AUTH_TOKEN ANTHROPIC_FOUNDRY_BASE_URL
    ANTHROPIC_AWS_* ANTHROPIC_AWS_API_KEY ANTHROPIC_AWS_WORKSPACE_ID ANTHROPIC_BEDROCK_*
    ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_GOOGLE_CLOUD_* AWS_* AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
    AWS_SESSION_TOKEN AWS_REGION AWS_PROFILE AWS_BEARER_TOKEN_BEDROCK GOOGLE_* GOOGLE_APPLICATION_CREDENTIALS
    GOOGLE_CLOUD_PROJECT GCLOUD_* AZURE_* AI_GATEWAY_* OPENAI_*`,
  credentials: `ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_* CLAUDE_CODE_OAUTH_TOKEN
    CLAUDE_CODE_OAUTH_REFRESH_TOKEN CLAUDE_CODE_OAUTH_SCOPES CLAUDE_CODE_OAUTH_CLIENT_ID
    CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR CLAUDE_CODE_SESSIONS_OAUTH_TOKEN CLAUDE_CODE_SESSION_ACCESS_TOKEN
    CLAUDE_CODE_GATEWAY_TOKEN* CLAUDE_CODE_GATEWAY_TOKEN CLAUDE_CODE_HFI_BEARER_TOKEN CLAUDE_CODE_API_KEY_*
    CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR CLAUDE_CODE_WEBSOCKET_AUTH_* CCR_* CLAUDE_BRIDGE_*
    CLAUDE_BRIDGE_OAUTH_TOKEN CLAUDE_BG_* CLAUDE_TRUSTED_DEVICE_TOKEN CLAUDE_SESSION_INGRESS_TOKEN_FILE`,
  credentialsOfHost: `CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST CLAUDE_CODE_HOST_* CLAUDE_CODE_HOST_AUTH_ENV_VAR
    CLAUDE_CODE_HOST_CREDS_FILE CLAUDE_CODE_SDK_HAS_* CLAUDE_CODE_REMOTE* CLAUDE_CODE_REMOTE`,
  profilesAndFederation: `ANTHROPIC_PROFILE ANTHROPIC_CONFIG_DIR ANTHROPIC_FEDERATION_RULE_ID
    ANTHROPIC_ORGANIZATION_ID ANTHROPIC_SERVICE_ACCOUNT_ID ANTHROPIC_IDENTITY_TOKEN* ANTHROPIC_IDENTITY_TOKEN
    ANTHROPIC_IDENTITY_TOKEN_FILE ANTHROPIC_WORKSPACE_ID ANTHROPIC_SCOPE`,
  requests: `ANTHROPIC_BASE_URL _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL ANTHROPIC_UNIX_SOCKET
    ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_BETAS CLAUDE_CODE_API_BASE_URL CLAUDE_CODE_CUSTOM_OAUTH_URL
    CLAUDE_CODE_EXTRA_* CLAUDE_CODE_EXTRA_BODY CLAUDE_CODE_EXTRA_METADATA CLAUDE_CODE_CLIENT_CERT
    CLAUDE_CODE_CLIENT_KEY* CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_HTTP_PROXY CLAUDE_CODE_HTTPS_PROXY
    CLAUDE_CODE_PROXY_URL USE_LOCAL_OAUTH USE_STAGING_OAUTH CLAUDE_LOCAL_OAUTH_* CLAUDE_LOCAL_OAUTH_API_BASE`,
  modelChoice: `ANTHROPIC_MODEL ANTHROPIC_DEFAULT_* ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL
    ANTHROPIC_DEFAULT_HAIKU_MODEL ANTHROPIC_DEFAULT_FABLE_MODEL ANTHROPIC_SMALL_FAST_MODEL*
    ANTHROPIC_SMALL_FAST_MODEL CLAUDE_CODE_SUBAGENT_MODEL* CLAUDE_CODE_SUBAGENT_MODEL CLAUDE_CODE_EFFORT_LEVEL
    MAX_THINKING_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS`,
  loadedCode: `CLAUDE_CODE_SIMPLE CLAUDE_CODE_MANAGED_SETTINGS_PATH CLAUDE_SECURESTORAGE_CONFIG_DIR NODE_OPTIONS
    BUN_* LD_PRELOAD LD_LIBRARY_PATH DYLD_*`,
};
export const DENIED_VARIABLES: readonly string[] = Object.values(DENIED).flatMap((names) => names.split(/\s+/));

export const isDenied = (name: string): boolean =>
  DENIED_VARIABLES.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));

/** Set in every child: no memory, updates, telemetry or bundled extras. */
const ALWAYS: Record<string, string> = {
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: "1",
  CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS: "1",
  // No fallback to another model or request mode.
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_REFUSAL_RETRY: "1",
  CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP: "1",
  // A login's claude.ai connectors belong to the user, not to this process.
  ENABLE_CLAUDEAI_MCP_SERVERS: "false",
  // A process that cannot start reports the reason in its result instead of exiting silently.
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_AGENT_SDK_CLIENT_APP: "tandem",
};

/** Added for isolated calls: nothing persists, and retries are left to the runtime. */
const CALL: Record<string, string> = {
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // A loop that exceeds the context window fails with `prompt_too_long` instead of continuing with a summary.
  DISABLE_COMPACT: "1",
  DISABLE_AUTO_COMPACT: "1",
  MAX_MCP_OUTPUT_TOKENS: "1000000",
  CLAUDE_CODE_MAX_RETRIES: "0",
};

/** Sessions keep Claude Code's normal behaviour: compaction, background tasks and a few retries. */
const SESSION: Record<string, string> = {
  CLAUDE_CODE_MAX_RETRIES: "4",
  // Pinned, because their defaults change between versions: a subagent starts without its caller's conversation, and a running
  // command does not move to the background by itself.
  CLAUDE_CODE_FORK_SUBAGENT: "0",
  CLAUDE_AUTO_BACKGROUND_TASKS: "0",
  // Each command starts in the session's folder: a relative path must not depend on an earlier `cd`.
  CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
};

export type Purpose = "call" | "session";

const fixedFor = (purpose: Purpose): Record<string, string> => ({
  ...ALWAYS,
  ...(purpose === "call" ? CALL : SESSION),
});

/**
 * File descriptor for the child's key or token, read once at start. In a variable, every command that Claude Code runs
 * would inherit it.
 */
export const CREDENTIAL_DESCRIPTOR = 3;

/**
 * Settings of git for every child, which override all files. Accepted edits can write files that look like a bare repository,
 * with a `config` whose `core.fsmonitor` would run with `git status`. A repository's own `.git` is guarded, and keeps its hooks.
 */
const GIT_SETTINGS = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
] as const;

const GIT_VARIABLES: Record<string, string> = {
  GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
  ...Object.fromEntries(
    GIT_SETTINGS.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/** The variables of any child: those that it may inherit, and safe settings of git. */
export function inheritedVariables(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const variables: Record<string, string> = { ...GIT_VARIABLES };
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined || isDenied(name)) continue;
    if (ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix))) variables[name] = value;
  }
  return variables;
}

/** Variables with paths and addresses of the host, which a sandbox has not. The address of a proxy may contain a password. */
const HOST_ONLY = new Set(
  `TMPDIR TMP TEMP HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR`.split(/\s+/),
);

export const withoutHostOnly = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !HOST_ONLY.has(name)));

/** The variables of a program in a sandbox: those that it may inherit. The sandbox adds its own. */
export const sandboxedVariables = (host: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  withoutHostOnly(inheritedVariables(host));

/**
 * The complete environment of a Claude Code child. `configDir` holds Claude Code's state: the user's for a login, a
 * private one for other credentials, so that no login can take precedence.
 */
export function childVariables(
  host: Readonly<Record<string, string | undefined>>,
  credential: Credential,
  configDir: string | undefined,
  purpose: Purpose = "call",
): Record<string, string> {
  const variables = inheritedVariables(host);
  Object.assign(variables, fixedFor(purpose));
  if (configDir) variables["CLAUDE_CONFIG_DIR"] = configDir;
  switch (credential.type) {
    case "login":
      break;
    case "api_key":
      variables["CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"] = String(CREDENTIAL_DESCRIPTOR);
      if (credential.baseUrl) variables["ANTHROPIC_BASE_URL"] = credential.baseUrl;
      break;
    case "oauth_token":
      variables["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"] = String(CREDENTIAL_DESCRIPTOR);
      break;
  }
  return variables;
}

const CREDENTIAL_NAMES: Record<Credential["type"], string | undefined> = {
  login: undefined,
  api_key: "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
  oauth_token: "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
};

/**
 * The same variables for the settings that override all files: Claude Code reads variables from its state file
 * regardless of settings, and they would override the process environment. Denied names and those of that file are
 * blanked, except for the credential, which is read earlier.
 */
export function overridingVariables(variables: Record<string, string>, credential: Credential): Record<string, string> {
  const names = [
    ...DENIED_VARIABLES.filter((name) => !name.endsWith("*")),
    ...Object.keys({ ...ALWAYS, ...CALL, ...SESSION, ...GIT_VARIABLES }),
    ...stateFileNames(variables),
  ];
  // A blank value would mean the user's home, not the folder of the chosen login.
  const value = (name: string): string =>
    (name === "CLAUDE_SECURESTORAGE_CONFIG_DIR" ? variables["CLAUDE_CONFIG_DIR"] : variables[name]) ?? "";
  return Object.fromEntries(
    names.filter((name) => name !== CREDENTIAL_NAMES[credential.type]).map((name) => [name, value(name)]),
  );
}

/**
 * For a private state folder: deletes its state file if it sets variables, because it could set a credential, which
 * cannot be overridden. The rest of the file is a cache.
 */
export function dropForeignVariables(variables: Record<string, string>): void {
  // Without a private folder, these would be the user's files.
  if (!variables["CLAUDE_CONFIG_DIR"] || stateFileNames(variables).length === 0) return;
  for (const file of stateFilesOf(variables)) rmSync(file, { force: true });
}

/** Variables of Claude Code, of runtimes and of the network, which a folder must not set. */
const RESERVED_VARIABLES = /^(CLAUDE|_CLAUDE|ANTHROPIC|NODE_|BUN_|LD_|DYLD_|OTEL_|SSL_|DISABLE_|ENABLE_|MAX_)|_PROXY$/i;

/** Variables that make shells, git or interpreters load code or run another program. */
const LOADERS = new RegExp(
  `^(BASH_ENV ENV ZDOTDIR SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND BASH_FUNC_.* IFS GIT_.* SSH_ASKPASS EDITOR
  VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE PYTHON.* PERL5.* PERLLIB RUBY.* GEM_.* BUNDLE_.* LUA_.*
  PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH RUSTC_WRAPPER MAKEFLAGS
  NPM_CONFIG_.* GLIBC_TUNABLES GCONV_PATH)$`.replaceAll(/\s+/g, "|"),
  "i",
);

/** Filters a trusted folder's variables: drops those that affect billing, routing or loaded code. */
export const folderVariables = (variables: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) =>
        !isDenied(name) &&
        !ALLOWED.has(name) &&
        !ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix)) &&
        !RESERVED_VARIABLES.test(name) &&
        !LOADERS.test(name),
    ),
  );

/** Denied to processes because they name an account of the host. A secret of a vault may have such a name. */
const FOREIGN_ACCOUNTS = /^(AWS|AZURE|GOOGLE|GCLOUD|OPENAI)_/;

/** Set by shells and by the sandbox. */
const SANDBOX_VARIABLES =
  /^(TANDEM_.*|MCP_.*|PWD|OLDPWD|SHLVL|HOSTNAME|SSH_AUTH_SOCK|PIP_CERT|DENO_CERT|.*_(CAINFO|CA_BUNDLE))$/i;

/** Whether a session's own secret must not have this name: Claude Code, a shell or the sandbox would read it. */
export const isReservedVariable = (name: string): boolean =>
  (isDenied(name) && !FOREIGN_ACCOUNTS.test(name)) ||
  [...ALLOWED].some((other) => other.toUpperCase() === name.toUpperCase()) ||
  ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
  RESERVED_VARIABLES.test(name) ||
  LOADERS.test(name) ||
  SANDBOX_VARIABLES.test(name);

const stateFile = z.object({ env: z.record(z.string(), z.unknown()) });

/** The old name, in the config folder, takes precedence. */
function stateFilesOf(variables: Record<string, string>): string[] {
  const home = variables["HOME"] ?? "";
  const configDir = variables["CLAUDE_CONFIG_DIR"];
  return [join(configDir ?? join(home, ".claude"), ".config.json"), join(configDir ?? home, ".claude.json")];
}

function stateFileNames(variables: Record<string, string>): string[] {
  return stateFilesOf(variables).flatMap((file) => {
    try {
      return Object.keys(stateFile.parse(JSON.parse(readFileSync(file, "utf8"))).env);
    } catch {
      // No file, or one without variables.
      return [];
    }
  });
}
