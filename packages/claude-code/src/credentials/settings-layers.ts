import { join } from "node:path";
import type { CredentialPlace, Found } from "./credential-place.ts";
import { KEY_NAMES } from "./others.ts";
import { brokenNotices, filled, type JsonFile, opennessNotices, readJsonFile } from "./read-json-file.ts";
import { isSet, CREDENTIAL_VARIABLES, variablePlaces, type VariableLayer } from "./variable-places.ts";

export interface Layers extends Found {
  /** Variables by layer, the strongest first. */
  variables: VariableLayer[];
  /** The `apiKeyHelper` that is in force, by id; a blank one in a stronger layer ends those below it. */
  helper: string | undefined;
  /** The key that a login of a Console account left in the state file, by id. */
  loginKey: string | undefined;
}

/**
 * Settings files and Claude Code's state file, the strongest first: managed policy, this folder's own two, the user's, and
 * the state. Each may set variables on top of the process's, and all but the state may name a helper.
 */
export async function settingsLayers(where: {
  managedFolder: string | undefined;
  folder: string;
  configDir: string;
  stateFile: string;
}): Promise<Layers> {
  const own = join(where.folder, ".claude");
  const managed = where.managedFolder === undefined ? undefined : join(where.managedFolder, "managed-settings.json");
  const files = [
    { path: managed, told: true },
    { path: join(own, "settings.local.json"), told: false },
    { path: join(own, "settings.json"), told: false },
    { path: join(where.configDir, "settings.json"), told: true },
  ].filter((file): file is { path: string; told: boolean } => file.path !== undefined);
  // The folder that one works in may be the home itself.
  const settings = await Promise.all(
    files
      .filter(({ path }, i) => files.findLastIndex((other) => other.path === path) === i)
      .map(async ({ path, told }) => ({ file: await readJsonFile(path), told })),
  );
  const state = await readJsonFile(where.stateFile);
  const helpers = settings.map(({ file }) => (file.state === "found" ? file.content["apiKeyHelper"] : undefined));
  const strongest = helpers.findIndex((helper) => helper !== undefined);
  const parts = [...settings.map(({ file, told }) => ofSettings(file, told)), ofState(state)];
  const keyId = `${state.path} primaryApiKey`;
  return {
    places: parts.flatMap(({ places }) => places),
    notices: parts.flatMap(({ notices }) => notices),
    variables: [...settings.map(({ file }) => file), state].map((file) => layerOf(file)),
    helper: filled(helpers[strongest]) ? helperId(settings[strongest]!.file) : undefined,
    loginKey: state.state === "found" && filled(state.content["primaryApiKey"]) ? keyId : undefined,
  };
}

const helperId = (file: JsonFile): string => `${file.path} apiKeyHelper`;

function layerOf(file: JsonFile): VariableLayer {
  const variables = file.state === "found" ? file.content["env"] : undefined;
  const values = typeof variables === "object" && variables !== null ? { ...variables } : {};
  return { file: file.path, values };
}

function ofSettings(file: JsonFile, told: boolean): Found {
  const isThere = file.state === "found" && filled(file.content["apiKeyHelper"]);
  const broken = file.state === "unreadable" || file.state === "malformed";
  const helper: CredentialPlace = {
    id: helperId(file),
    group: "settings",
    kind: "helper",
    state: isThere ? "found" : broken ? file.state : "absent",
    readBy: "claude_code",
    ...(isThere && { detail: "A program that is asked for a key." }),
  };
  const variables = variablePlaces(layerOf(file), "settings");
  return {
    places: [...(told || isThere || broken ? [helper] : []), ...variables],
    // A helper is no secret; a key in a variable is.
    notices: [...brokenNotices(file), ...(holdsSecret(layerOf(file)) ? opennessNotices(file) : [])],
  };
}

function ofState(file: JsonFile): Found {
  const broken = file.state === "unreadable" || file.state === "malformed";
  const keys = KEY_NAMES.map((name): CredentialPlace => {
    const isRead = name === "primaryApiKey";
    const isThere = file.state === "found" && filled(file.content[name]);
    return {
      id: `${file.path} ${name}`,
      group: "state",
      kind: "api_key",
      state: isThere ? "found" : broken ? file.state : "absent",
      readBy: isRead ? "claude_code" : "nobody",
      ...(isThere && { detail: isRead ? "Left by a login of a Console account." : "Claude Code does not read it." }),
    };
  });
  const shown = keys.filter(({ state, readBy }) => readBy === "claude_code" || state === "found");
  const holds = keys.some(({ state }) => state === "found") || holdsSecret(layerOf(file));
  return {
    places: [...shown, ...variablePlaces(layerOf(file), "state")],
    notices: [...brokenNotices(file), ...(holds ? opennessNotices(file) : [])],
  };
}

const SECRET_KINDS = new Set(["api_key", "bearer_token", "oauth_token", "headers"]);

const holdsSecret = ({ values }: VariableLayer): boolean =>
  Object.entries(CREDENTIAL_VARIABLES).some(([name, kind]) => SECRET_KINDS.has(kind) && isSet(name, values[name]));
