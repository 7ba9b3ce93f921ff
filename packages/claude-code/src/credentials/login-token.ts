import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { LlmError } from "@tandem/protocol";
import { z } from "zod";
import type { Credential } from "../credential.ts";
import { childVariables, overridingVariables } from "../variables.ts";
import { readExpiry } from "./read-expiry.ts";

/** Claude Code refreshes a token in the last five minutes of its life. Ask for it a little later. */
const REFRESH_BEFORE_MS = 4.5 * 60_000;
const REFRESH_MS = 30_000;
/** After a failed refresh, requests go on with the token as it is for this long. */
const RETRY_AFTER_MS = 30_000;

/** A stored login without its refresh token, which Tandem never reads. */
const storedLogin = z.object({
  claudeAiOauth: z.object({
    accessToken: z.string().min(1),
    expiresAt: z.unknown().optional(),
    scopes: z.array(z.string()).default([]),
    subscriptionType: z.string().nullish(),
    rateLimitTier: z.string().nullish(),
  }),
});
const stateFile = z.object({ primaryApiKey: z.string().min(1) });

export type StoredLogin =
  | ({ kind: "subscription" } & z.infer<typeof storedLogin>["claudeAiOauth"])
  /** A Console login works through an API key of its own. */
  | { kind: "console"; key: string };

export interface LoginPlace {
  credential: Extract<Credential, { type: "login" }>;
  executable: string;
  hostVariables: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the user's login, for requests that are made on behalf of a sandboxed process. If its token is about to expire, a Claude
 * Code process outside of the sandbox refreshes it. Rejects with `not_logged_in` if there is no login.
 */
export async function readLogin(place: LoginPlace): Promise<StoredLogin> {
  const login = await readStored(place);
  if (login?.kind !== "subscription" || !isExpiring(login.expiresAt)) return login ?? missing();
  await refreshOnce(place);
  return (await readStored(place)) ?? missing();
}

function missing(): never {
  throw new LlmError("not_logged_in", "There is no Claude Code login in the file that Tandem reads.");
}

const isExpiring = (expiresAt: unknown): boolean => {
  const end = readExpiry(expiresAt);
  return end !== undefined && end.getTime() - Date.now() < REFRESH_BEFORE_MS;
};

/** All sessions share a login: they wait for one refresh. */
const refreshes = new Map<string, Promise<void>>();

function refreshOnce(place: LoginPlace): Promise<void> {
  const key = configDirOf(place);
  const running = refreshes.get(key);
  if (running) return running;
  const refresh = refreshLogin(place);
  refreshes.set(key, refresh);
  void refresh.then(async () => {
    const login = await readStored(place);
    const failed = login?.kind === "subscription" && isExpiring(login.expiresAt);
    if (!failed) return refreshes.delete(key);
    return setTimeout(() => refreshes.delete(key), RETRY_AFTER_MS).unref();
  });
  return refresh;
}

/**
 * `claude auth status` refreshes a token that is about to expire, under Claude Code's own lock and without a model request. Tandem
 * never sees the refresh token. Never rejects: the API refuses an expired token, which the session reports.
 */
async function refreshLogin({ credential, executable, hostVariables }: LoginPlace): Promise<void> {
  const variables = childVariables(hostVariables, credential, credential.configDir);
  const settings = JSON.stringify({ apiKeyHelper: "", env: overridingVariables(variables, credential) });
  const args = ["--setting-sources", "", "--settings", settings, "auth", "status", "--json"];
  const options = { env: variables, cwd: tmpdir(), timeout: REFRESH_MS, killSignal: "SIGKILL" } as const;
  await promisify(execFile)(executable, args, options).catch(() => {});
}

const homeOf = ({ hostVariables }: LoginPlace): string => hostVariables["HOME"] ?? "";
const configDirOf = (place: LoginPlace): string => place.credential.configDir ?? join(homeOf(place), ".claude");

async function readStored(place: LoginPlace): Promise<StoredLogin | undefined> {
  const login = storedLogin.safeParse(await readJson(join(configDirOf(place), ".credentials.json"))).data;
  if (login) return { kind: "subscription", ...login.claudeAiOauth };
  const stateFolder = place.credential.configDir ?? homeOf(place);
  const state = stateFile.safeParse(await readJson(join(stateFolder, ".claude.json"))).data;
  return state && { kind: "console", key: state.primaryApiKey };
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
