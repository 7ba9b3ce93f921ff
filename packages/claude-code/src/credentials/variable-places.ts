import type { CredentialKind, CredentialPlace } from "./credential-place.ts";
import { filled } from "./read-json-file.ts";

/** Variables that hold a credential, or say where one goes. All but the second are read by Claude Code. */
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

/** Seldom set: told only where they are. */
const RARE = /_(FOUNDRY|ANTHROPIC_AWS|ANTHROPIC_GOOGLE_CLOUD|MANTLE|HEADERS)$/;

/** One layer of variables: those of the process, or those that a file sets on top. */
export interface VariableLayer {
  /** The file; undefined for the process's own. */
  file: string | undefined;
  values: Readonly<Record<string, unknown>>;
}

export const placeId = (layer: VariableLayer, name: string): string =>
  layer.file === undefined ? name : `${layer.file} env.${name}`;

/** The places in a layer. Of the process's own the usual ones are told even where they are absent. */
export function variablePlaces(layer: VariableLayer, group: CredentialPlace["group"]): CredentialPlace[] {
  return Object.entries(CREDENTIAL_VARIABLES).flatMap(([name, kind]) => {
    const state = isSet(name, layer.values[name]) ? "found" : "absent";
    if (state === "absent" && (layer.file !== undefined || RARE.test(name))) return [];
    const detail = state === "found" ? detailOf(name, kind, layer.values[name]) : undefined;
    return [
      {
        id: placeId(layer, name),
        group,
        kind,
        state,
        readBy: name === "CLAUDE_API_KEY" ? "nobody" : "claude_code",
        ...(detail && { detail }),
      },
    ];
  });
}

/** Empty is absent, and a switch is on only by the words that Claude Code takes for on. */
export const isSet = (name: string, value: unknown): value is string =>
  filled(value) &&
  (CREDENTIAL_VARIABLES[name] !== "cloud" || ["1", "true", "yes", "on"].includes(value.trim().toLowerCase()));

function detailOf(name: string, kind: CredentialKind, value: unknown): string | undefined {
  if (kind === "address") return `Requests go to ${hostOf(String(value)) ?? "something that is no address"}.`;
  if (kind === "headers") {
    const carried = carriedHeaders(String(value));
    return carried.length > 0 ? `They carry ${carried.join(" and ")}.` : "They carry no credential.";
  }
  return name === "CLAUDE_API_KEY" ? "Claude Code does not read it." : undefined;
}

/** The host alone: the rest of an address may hold a password. */
export function hostOf(address: string): string | undefined {
  try {
    return new URL(address.trim()).host || undefined;
  } catch {
    return undefined;
  }
}

/** Which of the two headers that hold a credential are among custom ones. */
export const carriedHeaders = (text: string): ("authorization" | "x-api-key")[] =>
  (["authorization", "x-api-key"] as const).filter((header) =>
    text.split("\n").some((line) => line.split(":")[0]?.trim().toLowerCase() === header),
  );
