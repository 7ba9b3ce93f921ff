import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Credential } from "./credential.ts";

/** Claude Code's state file, which names the account of the login. Tokens are stored elsewhere. */
const stateFile = z.object({ oauthAccount: z.object({ accountUuid: z.string().min(1) }) });

/**
 * A stable name for the account whose quota a credential uses: its kind and a hash. It reveals no secret. A login is
 * identified by its account id only.
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
      // Unknown account: use this machine's folder, so that two different accounts are never merged.
      return account === undefined ? nameOf("login", hostname(), folder) : nameOf("login", account);
    }
  }
}

/** Claude Code moved this file; the old location has precedence where it still exists. */
async function loggedIn(...files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    try {
      return stateFile.parse(JSON.parse(text)).oauthAccount.accountUuid;
    } catch {
      // Another format, or no login.
    }
  }
  return undefined;
}

const nameOf = (kind: string, ...identity: readonly string[]): string =>
  `${kind}:${createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 16)}`;
