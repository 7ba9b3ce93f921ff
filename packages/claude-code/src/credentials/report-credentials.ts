import { homedir } from "node:os";
import { join } from "node:path";
import {
  carriedHeaders,
  CREDENTIAL_VARIABLES,
  findCredentials,
  hostOf,
  isSet,
  variableId,
  type CredentialPlace,
  type FoundCredentials,
} from "./find-credentials.ts";
import { type Sent, sentCredentials } from "./precedence.ts";

/** The account billed for Claude Code's requests, as far as it can be derived. */
export type CredentialPayer = "subscription" | "api_account" | "gateway" | "cloud" | "helper" | "undecided" | "nobody";

/** A problem that a person should fix. */
interface CredentialNotice {
  about: string;
  text: string;
  fix?: string;
}

export interface CredentialReport {
  /** Claude Code's config folder. */
  configDir: { path: string; chosenBy: "CLAUDE_CONFIG_DIR" | "default" };
  places: CredentialPlace[];
  /** The credentials that Claude Code would send if a program started it here without Tandem. */
  claudeCode: { sends: Sent; cloud?: string; host?: string; payer: CredentialPayer };
  /** The credential behind `auth: login`: the login, or the API key created by a Console login. */
  login: { place?: string; payer: CredentialPayer };
  notices: CredentialNotice[];
}

export interface ReportOptions {
  variables: Readonly<Record<string, string | undefined>>;
  /** Working folder of Claude Code. */
  folder: string;
  platform?: NodeJS.Platform;
  /** Folder of an administrator's policy, if the platform has one. */
  managedFolder?: string;
}

/** Folders of an administrator's policy for Claude Code. */
export const MANAGED_FOLDERS: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/claude-code",
  darwin: "/Library/Application Support/ClaudeCode",
};

/**
 * Reports the Claude credentials on this machine and which of them is used. Contains kinds and sources only, never a
 * value or part of one. Sends and writes nothing; runs only macOS' `security`, for names.
 */
export async function reportCredentials(options: ReportOptions): Promise<CredentialReport> {
  const { variables, folder, platform = process.platform } = options;
  const home = variables["HOME"] || homedir();
  const chosenDir = variables["CLAUDE_CONFIG_DIR"]?.trim() ? variables["CLAUDE_CONFIG_DIR"] : undefined;
  const configDir = chosenDir ?? join(home, ".claude");
  const managedFolder = options.managedFolder ?? MANAGED_FOLDERS[platform];
  const found = await findCredentials({ variables, home, chosenDir, configDir, folder, managedFolder, platform });
  const { places, helper, login, loginKey } = found;

  const inForce = (name: string): { id: string; value: string } | undefined => {
    const layer = found.layers.find(({ values }) => values[name] !== undefined);
    const value = layer?.values[name];
    return layer && isSet(name, value) ? { id: variableId(layer, name), value } : undefined;
  };
  const headers = inForce("ANTHROPIC_CUSTOM_HEADERS");
  const address = inForce("ANTHROPIC_BASE_URL");
  const host = address && (hostOf(address.value) ?? "an unknown address");
  const cloud = Object.keys(CREDENTIAL_VARIABLES)
    .filter((name) => CREDENTIAL_VARIABLES[name] === "cloud")
    .map(inForce)
    .find((switched) => switched !== undefined)?.id;
  const sends = sentCredentials({
    cloud,
    apiKey: inForce("ANTHROPIC_API_KEY")?.id,
    authToken: inForce("ANTHROPIC_AUTH_TOKEN")?.id,
    oauthToken: inForce("CLAUDE_CODE_OAUTH_TOKEN")?.id,
    helper,
    login,
    loginKey,
    headers: headers && { id: headers.id, carried: carriedHeaders(headers.value) },
  });
  const ownLogin = login ?? loginKey;
  return {
    configDir: { path: configDir, chosenBy: chosenDir === undefined ? "default" : "CLAUDE_CONFIG_DIR" },
    places,
    claudeCode: {
      sends,
      ...(cloud !== undefined && { cloud }),
      ...(host !== undefined && { host }),
      payer: cloud === undefined ? payerOf(sends, host, places) : "cloud",
    },
    login: {
      ...(ownLogin !== undefined && { place: ownLogin }),
      payer: login !== undefined ? "subscription" : loginKey !== undefined ? "api_account" : "nobody",
    },
    notices: noticesOf(found, sends, variables["CLAUDE_CONFIG_DIR"]),
  };
}

function payerOf(
  { "x-api-key": key, authorization: token }: Sent,
  host: string | undefined,
  places: readonly CredentialPlace[],
): CredentialPayer {
  if (key === undefined && token === undefined) return "nobody";
  if (host !== undefined && !/(^|\.)anthropic\.com(:\d+)?$/.test(host)) return "gateway";
  if (key !== undefined && token !== undefined && key !== token) return "undecided";
  const kind = places.find(({ id }) => id === (key ?? token))?.kind;
  if (kind === "helper") return "helper";
  if (kind === "login" || kind === "oauth_token") return "subscription";
  return kind === "bearer_token" || kind === "headers" ? "undecided" : "api_account";
}

function noticesOf(
  { places, openFiles }: FoundCredentials,
  { "x-api-key": key, authorization: token }: Sent,
  chosenDir: string | undefined,
): CredentialNotice[] {
  const broken = places.filter(({ state, group }) => state !== "found" && group !== "keychain");
  return [
    ...broken.map(({ id, detail }) => ({
      about: id,
      text: detail ?? "It cannot be read.",
      fix: "Fix it, or move it away.",
    })),
    ...openFiles.map((path) => ({
      about: path,
      text: "Other users of this machine can read it.",
      fix: `chmod 600 ${path}`,
    })),
    ...(key !== undefined && token !== undefined && key !== token
      ? [
          {
            about: `${key} and ${token}`,
            text: "Claude Code alone sends both, and the service decides which one it uses.",
            fix: "Remove one of them.",
          },
        ]
      : []),
    ...(chosenDir?.trim() === ""
      ? [
          {
            about: "CLAUDE_CONFIG_DIR",
            text: "It is set but empty: Tandem uses the default folder, and Claude Code alone does not find its login.",
            fix: "unset CLAUDE_CONFIG_DIR",
          },
        ]
      : []),
  ];
}
