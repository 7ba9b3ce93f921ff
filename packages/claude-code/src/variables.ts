import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Credential } from "./credential.ts";

/** What a child may inherit: enough to find programs, the user's home and login, the network and the language. */
const ALLOWED = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "TMP", "TEMP"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot", "SYSTEMROOT", "ComSpec", "PATHEXT", "ProgramFiles"],
]);
const ALLOWED_PREFIXES = ["LC_"];

/**
 * What must never reach a child unless we put it there: everything that can switch who pays, where requests go, which
 * model answers, or what code the child loads. The allowlist already keeps these out; this is the second fence, and the
 * list that the tests seed. A trailing `*` stands for any ending; names that are known are spelled out beside it, because
 * only a whole name can be blanked.
 */
export const DENIED_VARIABLES: readonly string[] = [
  // Other providers
  ...["CLAUDE_CODE_USE_*", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
  ...["CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "CLAUDE_CODE_USE_MANTLE"],
  ...["CLAUDE_CODE_USE_GATEWAY", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH"],
  ...["CLAUDE_CODE_SKIP_FOUNDRY_AUTH", "CLAUDE_CODE_SKIP_MANTLE_AUTH", "CLOUD_ML_REGION", "VERTEX_REGION_*"],
  ...["ANTHROPIC_VERTEX_*", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_*"],
  ...["ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN"],
  ...["ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_AWS_*", "ANTHROPIC_AWS_API_KEY", "ANTHROPIC_AWS_WORKSPACE_ID"],
  ...["ANTHROPIC_BEDROCK_*", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_GOOGLE_CLOUD_*", "AWS_*", "AWS_ACCESS_KEY_ID"],
  ...["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"],
  ...["GOOGLE_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_*", "AZURE_*"],
  ...["AI_GATEWAY_*", "OPENAI_*"],
  // Credentials
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_OAUTH_TOKEN"],
  ...["CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_OAUTH_SCOPES", "CLAUDE_CODE_OAUTH_CLIENT_ID"],
  ...["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_SESSIONS_OAUTH_TOKEN"],
  ...["CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_GATEWAY_TOKEN*", "CLAUDE_CODE_GATEWAY_TOKEN"],
  ...["CLAUDE_CODE_HFI_BEARER_TOKEN", "CLAUDE_CODE_API_KEY_*", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"],
  ...["CLAUDE_CODE_WEBSOCKET_AUTH_*", "CCR_*", "CLAUDE_BRIDGE_*", "CLAUDE_BRIDGE_OAUTH_TOKEN", "CLAUDE_BG_*"],
  ...["CLAUDE_TRUSTED_DEVICE_TOKEN", "CLAUDE_SESSION_INGRESS_TOKEN_FILE"],
  // A host that manages credentials
  ...["CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST", "CLAUDE_CODE_HOST_*", "CLAUDE_CODE_HOST_AUTH_ENV_VAR"],
  ...["CLAUDE_CODE_HOST_CREDS_FILE", "CLAUDE_CODE_SDK_HAS_*", "CLAUDE_CODE_REMOTE*", "CLAUDE_CODE_REMOTE"],
  // Profiles and federation
  ...["ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID"],
  ...["ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_IDENTITY_TOKEN*", "ANTHROPIC_IDENTITY_TOKEN"],
  ...["ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_WORKSPACE_ID", "ANTHROPIC_SCOPE"],
  // Where requests go and what they carry
  ...["ANTHROPIC_BASE_URL", "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL", "ANTHROPIC_UNIX_SOCKET"],
  ...["ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_BETAS", "CLAUDE_CODE_API_BASE_URL", "CLAUDE_CODE_CUSTOM_OAUTH_URL"],
  ...["CLAUDE_CODE_EXTRA_*", "CLAUDE_CODE_EXTRA_BODY", "CLAUDE_CODE_EXTRA_METADATA", "CLAUDE_CODE_CLIENT_CERT"],
  ...["CLAUDE_CODE_CLIENT_KEY*", "CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_HTTP_PROXY", "CLAUDE_CODE_HTTPS_PROXY"],
  ...["CLAUDE_CODE_PROXY_URL", "USE_LOCAL_OAUTH", "USE_STAGING_OAUTH", "CLAUDE_LOCAL_OAUTH_*"],
  ...["CLAUDE_LOCAL_OAUTH_API_BASE"],
  // Which model answers, and how
  ...["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_*", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL"],
  ...["ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_FABLE_MODEL", "ANTHROPIC_SMALL_FAST_MODEL*"],
  ...["ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL*", "CLAUDE_CODE_SUBAGENT_MODEL"],
  ...["CLAUDE_CODE_EFFORT_LEVEL", "MAX_THINKING_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"],
  // What the child loads and runs
  ...["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_MANAGED_SETTINGS_PATH", "CLAUDE_SECURESTORAGE_CONFIG_DIR", "NODE_OPTIONS"],
  ...["BUN_*", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_*"],
];

/** Whether a variable is on the denylist. */
export const isDenied = (name: string): boolean =>
  DENIED_VARIABLES.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));

/** Ours in every child: no memory, no updates, no telemetry, no bundled extras, no other model than the chosen one. */
const ALWAYS: Record<string, string> = {
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: "1",
  CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS: "1",
  // No other model, and no other way of asking, than the one that was chosen.
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_REFUSAL_RETRY: "1",
  CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP: "1",
  // A login's claude.ai connectors are the user's, not ours.
  ENABLE_CLAUDEAI_MCP_SERVERS: "false",
  // A process that cannot start says why in its result instead of dying silently.
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_AGENT_SDK_CLIENT_APP: "tandem",
};

/** What an isolated call has beside: nothing that outlives or changes it, and retries left to the runtime. */
const CALL: Record<string, string> = {
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // A loop that outgrows the window ends as `prompt_too_long`; it does not go on with a summary instead of its task.
  DISABLE_COMPACT: "1",
  DISABLE_AUTO_COMPACT: "1",
  MAX_MCP_OUTPUT_TOKENS: "1000000",
  CLAUDE_CODE_MAX_RETRIES: "0",
};

/** A session is Claude Code as people know it: it compacts, works in the background, and tries again a few times. */
const SESSION: Record<string, string> = {
  CLAUDE_CODE_MAX_RETRIES: "4",
  // Each command begins in the session's folder: what a relative path names must not depend on where an earlier one went.
  CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
};

/** What a child is for. */
export type Purpose = "call" | "session";

const fixedFor = (purpose: Purpose): Record<string, string> => ({
  ...ALWAYS,
  ...(purpose === "call" ? CALL : SESSION),
});

/**
 * Where a child reads its key or token, once, when it starts. In a variable, every command that Claude Code runs would have
 * it too.
 */
export const CREDENTIAL_DESCRIPTOR = 3;

/** What any child may know of the host, whatever it is for. */
export function inheritedVariables(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined || isDenied(name)) continue;
    if (ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix))) variables[name] = value;
  }
  return variables;
}

/**
 * The variables of a Claude Code child, complete: nothing is inherited beside them.
 * `configDir` is where Claude Code keeps its state: the user's for a login, a private one for every other credential, so
 * that no login can step in for it.
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
 * The same variables again, for the settings that override all files: Claude Code takes variables from its own state
 * file whatever it is told of settings, and they would beat those that the process was started with. What is denied is
 * blanked here, and so is what that file brings, but for the place of the credential, which is read before.
 */
export function overridingVariables(variables: Record<string, string>, credential: Credential): Record<string, string> {
  const names = [
    ...DENIED_VARIABLES.filter((name) => !name.endsWith("*")),
    ...Object.keys({ ...ALWAYS, ...CALL, ...SESSION }),
    ...stateFileNames(variables),
  ];
  // Blank, it would stand for the user's home, whatever folder the login was to come from.
  const value = (name: string): string =>
    (name === "CLAUDE_SECURESTORAGE_CONFIG_DIR" ? variables["CLAUDE_CONFIG_DIR"] : variables[name]) ?? "";
  return Object.fromEntries(
    names.filter((name) => name !== CREDENTIAL_NAMES[credential.type]).map((name) => [name, value(name)]),
  );
}

/**
 * For a state folder of our own: variables in its state file are nobody's that may say anything here, not even the
 * credential, which cannot be overridden. The rest of the file is a cache that Claude Code makes anew.
 */
export function dropForeignVariables(variables: Record<string, string>): void {
  // Without a folder of our own these would be the user's files.
  if (!variables["CLAUDE_CONFIG_DIR"] || stateFileNames(variables).length === 0) return;
  for (const file of stateFilesOf(variables)) rmSync(file, { force: true });
}

/** What belongs to Claude Code, to the programs that it and its children run in, or to the network, whoever names it. */
const NOT_THE_FOLDERS = /^(CLAUDE|_CLAUDE|ANTHROPIC|NODE_|BUN_|LD_|DYLD_|OTEL_|SSL_|DISABLE_|ENABLE_|MAX_)|_PROXY$/i;

/** Variables by which shells, git and interpreters load code, or are told what to run instead. */
const LOADERS = new RegExp(
  `^(${[
    ...["BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "BASH_FUNC_.*", "IFS"],
    ...["GIT_.*", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"],
    ...["PYTHON.*", "PERL5.*", "PERLLIB", "RUBY.*", "GEM_.*", "BUNDLE_.*", "LUA_.*", "PHPRC", "PHP_INI_SCAN_DIR"],
    ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "RUSTC_WRAPPER", "MAKEFLAGS"],
    ...["NPM_CONFIG_.*", "GLIBC_TUNABLES", "GCONV_PATH"],
  ].join("|")})$`,
  "i",
);

/** Of the variables that a trusted folder sets, those that say nothing about who pays, where requests go or what is loaded. */
export const foldersOwn = (variables: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) =>
        !isDenied(name) &&
        !ALLOWED.has(name) &&
        !ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix)) &&
        !NOT_THE_FOLDERS.test(name) &&
        !LOADERS.test(name),
    ),
  );

const stateFile = z.object({ env: z.record(z.string(), z.unknown()) });

/** Its old name, in the folder itself, goes before the one of today. */
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
      // No file, or none with variables in it.
      return [];
    }
  });
}
