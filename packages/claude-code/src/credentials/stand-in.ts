import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Credential } from "../credential.ts";
import { readLogin, renewLogin, type LoginPlace, type StoredLogin } from "./login-token.ts";

const API = "https://api.anthropic.com";
/** Claude Code checks the form of some credentials. */
const KEY = "sk-ant-api03-stand-in-of-the-sandbox-";
const TOKEN = "sk-ant-oat01-stand-in-of-the-sandbox-";
const LIFETIME_MS = 365 * 24 * 60 * 60 * 1_000;

/**
 * Entries of Claude Code's folder that later processes of the session need. Everything else is deleted before each start: the
 * agent can write there, and the host must not follow its links or read its state files.
 */
const KEPT = new Set(["plans", "tasks", "todos", "file-history"]);

interface Upstream {
  baseUrl: string;
  headers: Record<string, string>;
  /** After the API rejected these headers: whether there are others now. */
  renew?: () => Promise<boolean>;
}

/** A credential without value for a sandboxed process, and the address and headers that replace it outside. */
export interface StandIn {
  credential: Credential;
  /** Placeholder that the process sends instead of the credential. Each process has another one, useless outside its sandbox. */
  secret: string;
  /** Read for each request, because the token of a login changes. */
  upstream(): Promise<Upstream>;
  /** Whether requests go to Anthropic's own API. */
  isFirstParty: boolean;
}

/** Prepares Claude Code's folder for a sandboxed process, and makes the stand-in for its credential. */
export async function makeStandIn(
  credential: Credential,
  place: { configDir: string } & Pick<LoginPlace, "executable" | "hostVariables">,
): Promise<StandIn> {
  const { configDir } = place;
  await mkdir(configDir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(configDir)) {
    if (!KEPT.has(name)) await rm(join(configDir, name), { recursive: true, force: true });
  }
  const [key, token] = [KEY + randomUUID(), TOKEN + randomUUID()];
  switch (credential.type) {
    case "api_key":
      return fixed({ type: "api_key", key }, credential.baseUrl ?? API, { "x-api-key": credential.key });
    case "oauth_token":
      return fixed({ type: "oauth_token", token }, API, bearer(credential.token));
    case "login": {
      const login = await readLogin({ ...place, credential });
      const at = { ...place, credential };
      const upstream = async (): Promise<Upstream> => {
        const current = await readLogin(at);
        if (current.kind === "console") return { baseUrl: API, headers: { "x-api-key": current.key } };
        const { accessToken } = current;
        return { baseUrl: API, headers: bearer(accessToken), renew: () => renewLogin(at, accessToken) };
      };
      if (login.kind === "console") return { ...fixed({ type: "api_key", key }, API, {}), upstream };
      await writeLogin(configDir, login, token);
      return { credential: { type: "login", configDir }, secret: token, upstream, isFirstParty: true };
    }
  }
}

const fixed = (
  credential: Exclude<Credential, { type: "login" }>,
  baseUrl: string,
  headers: Record<string, string>,
): StandIn => ({
  credential,
  secret: credential.type === "api_key" ? credential.key : credential.token,
  upstream: async () => ({ baseUrl, headers }),
  isFirstParty: new URL(baseUrl).origin === API,
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** With a login file, Claude Code knows the plan and its limits. It has no refresh token, so it never refreshes. */
async function writeLogin(
  configDir: string,
  login: Extract<StoredLogin, { kind: "subscription" }>,
  accessToken: string,
): Promise<void> {
  const { scopes, subscriptionType, rateLimitTier } = login;
  const claudeAiOauth = {
    accessToken,
    refreshToken: null,
    expiresAt: Date.now() + LIFETIME_MS,
    scopes,
    subscriptionType: subscriptionType ?? null,
    rateLimitTier: rateLimitTier ?? null,
  };
  await writeFile(join(configDir, ".credentials.json"), JSON.stringify({ claudeAiOauth }), { mode: 0o600, flag: "wx" });
}
