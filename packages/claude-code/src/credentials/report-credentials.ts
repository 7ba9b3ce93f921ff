import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { CredentialNotice, CredentialPlace } from "./credential-place.ts";
import { keychainPlaces } from "./keychain.ts";
import { isUsable, loginFiles } from "./login-files.ts";
import { placesOfOthers } from "./others.ts";
import { type Sent, whatIsSent } from "./precedence.ts";
import { settingsLayers } from "./settings-layers.ts";
import { carriedHeaders, CREDENTIAL_VARIABLES, hostOf, isSet, placeId, variablePlaces } from "./variable-places.ts";
import type { VariableLayer } from "./variable-places.ts";

/** Who is billed for what Claude Code does, as far as the places tell. */
export type CredentialPayer = "subscription" | "api_account" | "gateway" | "cloud" | "helper" | "undecided" | "nobody";

export interface CredentialReport {
  /** Where Claude Code keeps what is its own. */
  configDir: { path: string; chosenBy: "CLAUDE_CONFIG_DIR" | "default" };
  places: CredentialPlace[];
  /** What Claude Code would send if a program started it here, without Tandem. */
  claudeCode: { sends: Sent; cloud?: string; host?: string; payer: CredentialPayer };
  /** Which places Tandem's `login` stands for: the login itself, or the key that a Console account's login left. */
  login: { place?: string; payer: CredentialPayer };
  notices: CredentialNotice[];
}

export interface ReportOptions {
  variables: Readonly<Record<string, string | undefined>>;
  /** The folder that Claude Code would be started in. */
  folder: string;
  platform?: NodeJS.Platform;
  /** Where an administrator keeps policy; undefined for a platform that has no such folder. */
  managedFolder?: string;
}

/** Where an administrator's policy for Claude Code is kept. */
export const MANAGED_FOLDERS: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/claude-code",
  darwin: "/Library/Application Support/ClaudeCode",
};

/**
 * Every place where a credential for Claude may be, and which of them would be used. Kinds and sources only: no value, nor
 * any part of one, is in a report. Nothing is sent, run (but macOS' `security`, for names) or written. Never rejects for
 * what is in a file.
 */
export async function reportCredentials(options: ReportOptions): Promise<CredentialReport> {
  const { variables, folder, platform = process.platform } = options;
  const home = variables["HOME"] || homedir();
  const chosen = variables["CLAUDE_CONFIG_DIR"]?.trim() ? variables["CLAUDE_CONFIG_DIR"] : undefined;
  const configDir = chosen ?? join(home, ".claude");
  const managedFolder = options.managedFolder ?? MANAGED_FOLDERS[platform];
  const [layers, logins, keychain, others] = await Promise.all([
    settingsLayers({ managedFolder, folder, configDir, stateFile: stateFileOf(configDir, chosen ?? home) }),
    loginFiles({ configDir, home }),
    keychainPlaces({ platform, variables, configDir: chosen }),
    placesOfOthers({
      home,
      dataHome: variables["XDG_DATA_HOME"] || join(home, ".local", "share"),
      configHome: variables["XDG_CONFIG_HOME"] || join(home, ".config"),
    }),
  ]);
  const process_: VariableLayer = { file: undefined, values: variables };
  const places = [
    ...variablePlaces(process_, "environment"),
    ...layers.places,
    ...logins.places,
    ...keychain,
    ...others.places,
  ];

  const inForce = (name: string): { id: string; value: string } | undefined => {
    // A layer that has the name decides, also by a blank.
    const layer = [...layers.variables, process_].find(({ values }) => values[name] !== undefined);
    const value = layer?.values[name];
    return layer && isSet(name, value) ? { id: placeId(layer, name), value } : undefined;
  };
  const clouds = Object.keys(CREDENTIAL_VARIABLES).filter((name) => CREDENTIAL_VARIABLES[name] === "cloud");
  const headers = inForce("ANTHROPIC_CUSTOM_HEADERS");
  const kept = [...keychain, ...logins.places].filter(({ readBy }) => readBy === "claude_code");
  const login = kept.find(
    (place) => place.kind === "login" && (place.group === "keychain" ? isFound(place) : isUsable(place)),
  );
  const loginKey = layers.loginKey ?? kept.find((place) => place.kind === "api_key" && isFound(place))?.id;
  const cloud = clouds.map(inForce).find((found) => found !== undefined)?.id;
  const sends = whatIsSent(
    defined({
      cloud,
      apiKey: inForce("ANTHROPIC_API_KEY")?.id,
      authToken: inForce("ANTHROPIC_AUTH_TOKEN")?.id,
      oauthToken: inForce("CLAUDE_CODE_OAUTH_TOKEN")?.id,
      helper: layers.helper,
      login: login?.id,
      loginKey,
      headers: headers && { id: headers.id, carried: carriedHeaders(headers.value) },
    }),
  );
  const address = inForce("ANTHROPIC_BASE_URL");
  const host = address && (hostOf(address.value) ?? "an unknown address");
  const kindOf = (id: string | undefined) => places.find((place) => place.id === id)?.kind;
  const ownLogin = login?.id ?? loginKey;
  return {
    configDir: { path: configDir, chosenBy: chosen === undefined ? "default" : "CLAUDE_CONFIG_DIR" },
    places,
    claudeCode: {
      sends,
      ...(cloud !== undefined && { cloud }),
      ...(host !== undefined && { host }),
      payer: payerOf(sends, { cloud, host, kindOf }),
    },
    login: {
      ...(ownLogin && { place: ownLogin }),
      payer: login ? "subscription" : loginKey ? "api_account" : "nobody",
    },
    notices: [...layers.notices, ...logins.notices, ...others.notices, ...conflicts(sends, variables)],
  };
}

const isFound = ({ state }: CredentialPlace): boolean => state === "found";

/** It moved once; where the old file still is, it counts. */
function stateFileOf(configDir: string, parent: string): string {
  const old = join(configDir, ".config.json");
  return existsSync(old) ? old : join(parent, ".claude.json");
}

function payerOf(
  sent: Sent,
  {
    cloud,
    host,
    kindOf,
  }: { cloud?: string | undefined; host?: string | undefined; kindOf: (id: string | undefined) => string | undefined },
): CredentialPayer {
  if (cloud !== undefined) return "cloud";
  const [key, token] = [sent["x-api-key"], sent.authorization];
  if (key === undefined && token === undefined) return "nobody";
  // Who is behind another address bills as it likes.
  if (host !== undefined && !/(^|\.)anthropic\.com(:\d+)?$/.test(host)) return "gateway";
  if (key !== undefined && token !== undefined && key !== token) return "undecided";
  const kind = kindOf(key ?? token);
  if (kind === "helper") return "helper";
  if (kind === "login" || kind === "oauth_token") return "subscription";
  return kind === "bearer_token" || kind === "headers" ? "undecided" : "api_account";
}

function conflicts(sent: Sent, variables: ReportOptions["variables"]): CredentialNotice[] {
  const { "x-api-key": key, authorization: token } = sent;
  const notices: CredentialNotice[] = [];
  if (key !== undefined && token !== undefined && key !== token) {
    notices.push({
      about: `${key} and ${token}`,
      text: "By itself, Claude Code sends both, and the service decides which one counts.",
      fix: "Remove one of them.",
    });
  }
  if (variables["CLAUDE_CONFIG_DIR"]?.trim() === "") {
    notices.push({
      about: "CLAUDE_CONFIG_DIR",
      text: "It is set and empty: Tandem takes the default folder, and Claude Code by itself does not find its login.",
      fix: "unset CLAUDE_CONFIG_DIR",
    });
  }
  return notices;
}

/** The same without what is undefined. */
const defined = <T extends object>(parts: { [name in keyof T]: T[name] | undefined }): T =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as T;
