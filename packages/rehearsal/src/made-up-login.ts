import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SubscriptionType } from "./server/login-routes.ts";
import { loginScopes, madeUpMark, madeUpToken, rateLimitTier } from "./server/login-routes.ts";

export interface MadeUpLogin {
  readonly file: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/**
 * Writes Claude Code's login file (without a keychain) with fake tokens that only a rehearsal accepts. `refreshToken:
 * null` omits it. Never overwrites a real login.
 */
export async function madeUpLogin(
  configDir: string,
  options: { expiresAt?: Date; subscriptionType?: SubscriptionType; refreshToken?: string | null } = {},
): Promise<MadeUpLogin> {
  const file = join(configDir, ".credentials.json");
  const existing = await readFile(file, "utf8").catch(() => undefined);
  // A rejected refresh leaves blank tokens, which may be overwritten.
  if (existing !== undefined && !existing.includes(madeUpMark) && !existing.includes('"accessToken":""')) {
    throw new Error(`${file} holds a login that is not made up. Give a scratch folder instead.`);
  }
  const accessToken = madeUpToken("oat01");
  const refreshToken = options.refreshToken === null ? undefined : (options.refreshToken ?? madeUpToken("ort01"));
  const subscriptionType = options.subscriptionType ?? "max";
  const expiresAt = options.expiresAt ?? new Date(Date.now() + 8 * 3_600_000);
  await mkdir(configDir, { recursive: true, mode: 0o700 });
  const login = {
    claudeAiOauth: {
      accessToken,
      refreshToken,
      expiresAt: expiresAt.getTime(),
      scopes: loginScopes,
      subscriptionType,
      rateLimitTier: rateLimitTier(subscriptionType),
    },
  };
  await writeFile(file, JSON.stringify(login), { mode: 0o600 });
  await chmod(file, 0o600);
  return { file, accessToken, refreshToken };
}
