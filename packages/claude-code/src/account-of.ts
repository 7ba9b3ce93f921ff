import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Credential } from "./credential.ts";

/** Claude Code's own file of state, which says whose login it has; the tokens are elsewhere. */
const stateFile = z.object({ oauthAccount: z.object({ accountUuid: z.string().min(1) }) });

/**
 * A name for the account whose quotas a credential uses, the same for all who use that account: kind and a hash. No
 * secret can be had from it, and a login is known by its account's id alone.
 */
export async function accountOf(
  credential: Credential,
  hostVariables: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  switch (credential.type) {
    case "api_key":
      return nameOf("api_key", credential.baseUrl ?? "", credential.key);
    case "oauth_token":
      return nameOf("oauth_token", credential.token);
    case "login": {
      const home = hostVariables["HOME"] ?? homedir();
      const folder = credential.configDir ?? join(home, ".claude");
      const account = await loggedIn(join(folder, ".config.json"), join(credential.configDir ?? home, ".claude.json"));
      // Nobody else can have that login: what is not known to be the same account is another.
      return account === undefined ? nameOf("login", hostname(), folder) : nameOf("login", account);
    }
  }
}

/** It moved once; where the old file still is, it counts. */
async function loggedIn(...files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    try {
      return stateFile.parse(JSON.parse(text)).oauthAccount.accountUuid;
    } catch {
      // Of a version that writes otherwise, or without a login.
    }
  }
  return undefined;
}

const nameOf = (kind: string, ...identity: readonly string[]): string =>
  `${kind}:${createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 16)}`;
