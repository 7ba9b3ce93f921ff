import type { Payer } from "@tandem/protocol";

/** The only credential that a Claude Code process receives; it decides which account is billed. */
export type Credential =
  /** The user's Claude Code login, in Claude Code's own store. */
  | { type: "login"; configDir?: string }
  /** `isFree`: a scripted model answers, so that requests cost nothing. */
  | { type: "api_key"; key: string; baseUrl?: string; isFree?: boolean }
  | { type: "oauth_token"; token: string };

export function payerOf(credential: Credential): Payer {
  switch (credential.type) {
    case "login":
      return "claude_login";
    case "api_key":
      return credential.isFree ? "nobody" : "anthropic_api_key";
    case "oauth_token":
      return "claude_oauth_token";
  }
}

/** The secret to redact and pass on; a login stays in Claude Code's store. */
export function secretOf(credential: Credential): string | undefined {
  switch (credential.type) {
    case "login":
      return undefined;
    case "api_key":
      return credential.key;
    case "oauth_token":
      return credential.token;
  }
}
