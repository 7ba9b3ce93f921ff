import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
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
/** After a failed refresh, requests use the current token for this long. */
const RETRY_AFTER_MS = 30_000;
const RENEWAL_POLL_MS = 100;

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

/** Renewals by rejected token, so that each token is renewed once, whichever session met the rejection first. */
const renewals = new Map<string, Promise<boolean>>();
const MAX_RENEWALS = 20;

/**
 * The API rejected this access token, although it has not expired: it was revoked. Returns whether another one is stored now.
 * A token is renewed once.
 */
export async function renewLogin(place: LoginPlace, rejected: string): Promise<boolean> {
  const isRenewed = async (): Promise<boolean> => {
    const login = await readStored(place);
    return login?.kind === "subscription" && login.accessToken !== rejected;
  };
  if (await isRenewed()) return true;
  const key = createHash("sha256").update(rejected).digest("hex");
  const known = renewals.get(key);
  if (known) return known;
  if (renewals.size >= MAX_RENEWALS) renewals.delete(renewals.keys().next().value!);
  const renewal = askOutside(place, isRenewed).then(isRenewed);
  renewals.set(key, renewal);
  return renewal;
}

/**
 * Claude Code refreshes a token that the API rejects, under its own lock, but only when it sends a request to the model: the
 * smallest one, ended as soon as the new token is stored. Never rejects.
 */
async function askOutside(place: LoginPlace, isDone: () => Promise<boolean>): Promise<void> {
  const ended = new AbortController();
  const { args, options } = commandOf(place, [
    "--print",
    "--no-session-persistence",
    "--model",
    "haiku",
    "--tools",
    "",
    "--max-turns",
    "1",
    "OK",
  ]);
  const asked = promisify(execFile)(place.executable, args, { ...options, signal: ended.signal }).catch(() => {});
  const watch = setInterval(() => void isDone().then((done) => done && ended.abort()), RENEWAL_POLL_MS);
  await asked;
  clearInterval(watch);
}

function missing(): never {
  throw new LlmError("not_logged_in", "The login of Claude Code is missing, or could not be refreshed.");
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
async function refreshLogin(place: LoginPlace): Promise<void> {
  const { args, options } = commandOf(place, ["auth", "status", "--json"]);
  await promisify(execFile)(place.executable, args, options).catch(() => {});
}

/** A Claude Code process outside of the sandbox, with no settings of the user. */
function commandOf({ credential, hostVariables }: LoginPlace, args: readonly string[]) {
  const variables = childVariables(hostVariables, credential, credential.configDir);
  const settings = JSON.stringify({ apiKeyHelper: "", env: overridingVariables(variables, credential) });
  return {
    args: ["--setting-sources", "", "--settings", settings, ...args],
    options: { env: variables, cwd: tmpdir(), timeout: REFRESH_MS, killSignal: "SIGKILL" as const },
  };
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
