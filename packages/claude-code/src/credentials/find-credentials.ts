import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseJson } from "@tandem/protocol";
import { z } from "zod";
import { readExpiry } from "./read-expiry.ts";

/** `address` and `headers` are not credentials, but they redirect or carry one. */
export type CredentialKind =
  | "api_key"
  | "bearer_token"
  | "oauth_token"
  | "login"
  | "helper"
  | "headers"
  | "cloud"
  | "address";

/** A login without its tokens. Texts come from closed lists, because any field could contain a token. */
interface LoginDetails {
  expiresAt?: Date;
  expired: boolean;
  /** Claude Code can refresh it without a person. */
  renewable: boolean;
  plan?: string;
  scopes: readonly string[];
}

/** A credential or an unreadable file: kind and source, never a value or part of one. */
export interface CredentialPlace {
  /** Unique within a report: a variable's name, or a file and the key in it. */
  id: string;
  group: "environment" | "settings" | "state" | "login" | "keychain";
  kind: CredentialKind;
  state: "found" | "unreadable" | "malformed";
  readBy: "claude_code" | "nobody";
  detail?: string;
  login?: LoginDetails;
}

/** The process environment, or variables that a file sets on top of it. */
export interface VariableLayer {
  /** Undefined for the process environment. */
  file: string | undefined;
  values: Readonly<Record<string, unknown>>;
}

export interface FoundCredentials {
  places: CredentialPlace[];
  /** Highest precedence first. The first layer with a name decides, even with a blank value. */
  layers: VariableLayer[];
  /** Id of the effective `apiKeyHelper`. */
  helper: string | undefined;
  /** Id of a login that can make requests. */
  login: string | undefined;
  /** Id of the API key created by a Console login. */
  loginKey: string | undefined;
  /** Files with a secret that other users of the machine can read. */
  openFiles: string[];
}

/** Claude Code reads all of these except CLAUDE_API_KEY. */
export const CREDENTIAL_VARIABLES: Readonly<Record<string, CredentialKind>> = {
  ANTHROPIC_API_KEY: "api_key",
  CLAUDE_API_KEY: "api_key",
  ANTHROPIC_AUTH_TOKEN: "bearer_token",
  CLAUDE_CODE_OAUTH_TOKEN: "oauth_token",
  ANTHROPIC_CUSTOM_HEADERS: "headers",
  CLAUDE_CODE_USE_BEDROCK: "cloud",
  CLAUDE_CODE_USE_VERTEX: "cloud",
  CLAUDE_CODE_USE_FOUNDRY: "cloud",
  CLAUDE_CODE_USE_ANTHROPIC_AWS: "cloud",
  CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD: "cloud",
  CLAUDE_CODE_USE_MANTLE: "cloud",
  ANTHROPIC_BASE_URL: "address",
};
const SECRET_KINDS: ReadonlySet<string> = new Set(["api_key", "bearer_token", "oauth_token", "headers", "login"]);
const PLANS: ReadonlySet<string> = new Set(["free", "pro", "max", "team", "enterprise"]);
const SCOPES: ReadonlySet<string> = new Set([
  "user:inference",
  "user:profile",
  "user:sessions:claude_code",
  "user:mcp_servers",
  "user:file_upload",
  "org:create_api_key",
  "org:profile",
]);
/** A locked keychain prompts a person, who may be absent. */
const KEYCHAIN_MS = 3_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface CredentialLocations {
  variables: Readonly<Record<string, string | undefined>>;
  home: string;
  /** Value of CLAUDE_CONFIG_DIR, if set. It changes the names of keychain items. */
  chosenDir: string | undefined;
  configDir: string;
  folder: string;
  managedFolder: string | undefined;
  platform: NodeJS.Platform;
}

/**
 * Reads every possible location of a Claude credential. Never rejects because of a file's content, and never repeats
 * that content.
 */
export async function findCredentials(where: CredentialLocations): Promise<FoundCredentials> {
  const { variables, home, configDir, chosenDir } = where;
  const settingsPaths = [
    ...(where.managedFolder === undefined ? [] : [join(where.managedFolder, "managed-settings.json")]),
    join(where.folder, ".claude", "settings.local.json"),
    join(where.folder, ".claude", "settings.json"),
    join(configDir, "settings.json"),
  ];
  // The state file has moved; Claude Code prefers the old one if it exists.
  const oldState = join(configDir, ".config.json");
  const statePath = existsSync(oldState) ? oldState : join(chosenDir ?? home, ".claude.json");
  const [settings, state, login, keychain] = await Promise.all([
    // The folder may be the home itself: read each file once, at its lowest precedence.
    Promise.all(settingsPaths.filter((path, i) => settingsPaths.lastIndexOf(path) === i).map(readJson)),
    readJson(statePath),
    readJson(join(configDir, ".credentials.json")),
    keychainPlaces(where),
  ]);
  const own = layerOf(undefined, variables);
  const fileLayers = [...settings, state].map((file) => layerOf(file.path, file.content?.["env"]));
  const helpers = settings.filter(({ content }) => content?.["apiKeyHelper"] !== undefined);
  const helperPlaces = helpers.filter(({ content }) => isFilled(content?.["apiKeyHelper"])).map(helperPlace);
  const loginPlace = login.content && placeOfLogin(login.path, login.content);
  const stateKey: CredentialPlace[] = isFilled(state.content?.["primaryApiKey"])
    ? [
        {
          id: `${state.path} primaryApiKey`,
          group: "state",
          kind: "api_key",
          state: "found",
          readBy: "claude_code",
          detail: "Left by a login of a Console account.",
        },
      ]
    : [];
  const places = [
    ...variablePlaces(own, "environment"),
    ...settings.flatMap((file) => brokenPlace(file, "settings", "helper")),
    ...helperPlaces,
    ...fileLayers.flatMap((layer) => variablePlaces(layer, layer.file === state.path ? "state" : "settings")),
    ...brokenPlace(state, "state", "api_key"),
    ...stateKey,
    ...brokenPlace(login, "login", "login"),
    ...(loginPlace ? [loginPlace] : []),
    ...keychain,
  ];
  const strongest = helpers[0] && helperPlace(helpers[0]).id;
  const holdsSecret = ({ path }: JsonFile): boolean =>
    places.some(({ id, kind }) => SECRET_KINDS.has(kind) && (id === path || id.startsWith(`${path} `)));
  return {
    places,
    layers: [...fileLayers, own],
    helper: helperPlaces.find(({ id }) => id === strongest)?.id,
    login:
      keychain.find(({ kind, state: found }) => kind === "login" && found === "found")?.id ??
      // Claude Code makes requests only with a login that has this scope.
      (loginPlace?.login?.scopes.includes("user:inference") ? loginPlace.id : undefined),
    loginKey: [...stateKey, ...keychain].find(({ kind, state: found }) => kind === "api_key" && found === "found")?.id,
    openFiles: [...settings, state, login].filter((file) => file.isOpen && holdsSecret(file)).map(({ path }) => path),
  };
}

interface JsonFile {
  path: string;
  /** Absent for a missing, empty or malformed file. */
  content?: Record<string, unknown>;
  broken?: { state: "unreadable" | "malformed"; detail: string };
  isOpen?: boolean;
}

async function readJson(path: string): Promise<JsonFile> {
  const broken = (state: "unreadable" | "malformed", detail: string): JsonFile => ({ path, broken: { state, detail } });
  try {
    const info = await stat(path);
    if (!info.isFile()) return broken("unreadable", "It is not a file.");
    if (info.size > MAX_FILE_BYTES) return broken("unreadable", "It is too large.");
    const text = await readFile(path, "utf8");
    if (text.trim() === "") return { path };
    // Not the parser's own message: it quotes the file.
    const content = z.record(z.string(), z.unknown()).safeParse(parseJson(text));
    if (!content.success) return broken("malformed", "It is not a JSON object.");
    return { path, content: content.data, isOpen: process.platform !== "win32" && (info.mode & 0o077) !== 0 };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    return code === "ENOENT" || code === "ENOTDIR" ? { path } : broken("unreadable", `${code}.`);
  }
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const brokenPlace = (
  { path, broken }: JsonFile,
  group: CredentialPlace["group"],
  kind: CredentialKind,
): CredentialPlace[] => (broken ? [{ id: path, group, kind, readBy: "claude_code", ...broken }] : []);

const helperPlace = ({ path }: JsonFile): CredentialPlace => ({
  id: `${path} apiKeyHelper`,
  group: "settings",
  kind: "helper",
  state: "found",
  readBy: "claude_code",
  detail: "A program that prints a key.",
});

const layerOf = (file: string | undefined, values: unknown): VariableLayer => ({
  file,
  values: typeof values === "object" && values !== null ? { ...values } : {},
});

export const variableId = ({ file }: VariableLayer, name: string): string =>
  file === undefined ? name : `${file} env.${name}`;

/** Blank counts as absent. A cloud switch is on only with the values that Claude Code accepts. */
export const isSet = (name: string, value: unknown): value is string =>
  isFilled(value) &&
  (CREDENTIAL_VARIABLES[name] !== "cloud" || ["1", "true", "yes", "on"].includes(value.trim().toLowerCase()));

const variablePlaces = (layer: VariableLayer, group: CredentialPlace["group"]): CredentialPlace[] =>
  Object.entries(CREDENTIAL_VARIABLES).flatMap(([name, kind]): CredentialPlace[] => {
    const value = layer.values[name];
    if (!isSet(name, value)) return [];
    const detail = variableDetail(name, kind, value);
    const readBy = name === "CLAUDE_API_KEY" ? "nobody" : "claude_code";
    return [{ id: variableId(layer, name), group, kind, state: "found", readBy, ...(detail && { detail }) }];
  });

function variableDetail(name: string, kind: CredentialKind, value: string): string | undefined {
  if (kind === "address") return `Requests go to ${hostOf(value) ?? "an invalid URL"}.`;
  if (kind === "headers") return `They carry ${carriedHeaders(value).join(" and ") || "no credential"}.`;
  return name === "CLAUDE_API_KEY" ? "Claude Code does not read it." : undefined;
}

/** Only the host: the rest of a URL may contain a password. */
export const hostOf = (address: string): string | undefined => URL.parse(address.trim())?.host || undefined;

/** Credential headers among the custom headers. */
export const carriedHeaders = (text: string): ("authorization" | "x-api-key")[] =>
  (["authorization", "x-api-key"] as const).filter((header) =>
    text.split("\n").some((line) => line.split(":")[0]?.trim().toLowerCase() === header),
  );

const storedLogin = z.looseObject({
  claudeAiOauth: z.looseObject({
    accessToken: z.unknown().optional(),
    refreshToken: z.unknown().optional(),
    expiresAt: z.unknown().optional(),
    scopes: z.array(z.unknown()).catch([]),
    subscriptionType: z.string().optional().catch(undefined),
  }),
});

function placeOfLogin(path: string, content: Record<string, unknown>): CredentialPlace | undefined {
  const login = storedLogin.safeParse(content).data?.claudeAiOauth;
  if (!login || (!isFilled(login.accessToken) && !isFilled(login.refreshToken))) return undefined;
  const expiresAt = readExpiry(login.expiresAt);
  const plan = login.subscriptionType;
  return {
    id: path,
    group: "login",
    kind: "login",
    state: "found",
    readBy: "claude_code",
    login: {
      ...(expiresAt && { expiresAt }),
      expired: expiresAt !== undefined && expiresAt.getTime() <= Date.now(),
      renewable: isFilled(login.refreshToken),
      ...(plan !== undefined && PLANS.has(plan) && { plan }),
      scopes: login.scopes.filter((scope): scope is string => typeof scope === "string" && SCOPES.has(scope)),
    },
  };
}

/** Queries the macOS keychain for item names, without the flags that print or unlock a secret. */
async function keychainPlaces({ platform, variables, chosenDir }: CredentialLocations): Promise<CredentialPlace[]> {
  if (platform !== "darwin") return [];
  const hash = chosenDir && createHash("sha256").update(chosenDir.normalize("NFC")).digest("hex").slice(0, 8);
  const suffix = hash ? `-${hash}` : "";
  const items = [
    [`Claude Code-credentials${suffix}`, "login"],
    [`Claude Code${suffix}`, "api_key"],
  ] as const;
  const places = items.map(async ([name, kind]): Promise<CredentialPlace[]> => {
    const base = { id: `keychain: ${name}`, group: "keychain", kind, readBy: "claude_code" } as const;
    try {
      const env = { PATH: variables["PATH"], HOME: variables["HOME"] };
      const options = { env, timeout: KEYCHAIN_MS, killSignal: "SIGKILL" } as const;
      await promisify(execFile)("security", ["find-generic-password", "-s", name], options);
      return [{ ...base, state: "found" }];
    } catch (error) {
      // Exit code 44: no such item.
      if ((error as { code?: unknown }).code === 44) return [];
      return [{ ...base, state: "unreadable", detail: "The keychain did not answer." }];
    }
  });
  return (await Promise.all(places)).flat();
}
