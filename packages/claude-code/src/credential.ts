import type { Payer } from "@tandem/protocol";

/** The one credential that a Claude Code process gets. It decides who pays, and no other ever arrives. */
export type Credential =
  /** The user's own Claude Code login, where Claude Code keeps it. */
  | { type: "login"; configDir?: string }
  | { type: "api_key"; key: string; baseUrl?: string }
  | { type: "oauth_token"; token: string };

export function payerOf(credential: Credential): Payer {
  switch (credential.type) {
    case "login":
      return "claude_login";
    case "api_key":
      return "anthropic_api_key";
    case "oauth_token":
      return "claude_oauth_token";
  }
}

/** What must not be seen by anybody; a login stays where Claude Code keeps it. */
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
