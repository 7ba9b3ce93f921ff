import type { ConversationOutput, Credential } from "@tandem/claude-code";

/** Tandem's own tokens and Anthropic's keys, wherever they come from. */
const SHAPES = /\btandem_[\w-]{20,}|\bsk-ant-[\w-]{8,}/g;
const REDACTED = "[redacted]";

/**
 * Takes credentials out of what a conversation says, before anybody sees or keeps it: a command that prints a key which it
 * found somewhere would otherwise put it into the log. The model itself has seen what it has seen.
 */
export function redactOutput(output: ConversationOutput, credential: Credential): ConversationOutput {
  if (output.type !== "event" && output.type !== "delta") return output;
  const text = JSON.stringify(output);
  const secret = secretOf(credential);
  const clean = (secret ? text.replaceAll(JSON.stringify(secret).slice(1, -1), REDACTED) : text).replaceAll(
    SHAPES,
    REDACTED,
  );
  return clean === text ? output : (JSON.parse(clean) as ConversationOutput);
}

/** Known here too, so that nobody loads Claude Code's room for it. */
function secretOf(credential: Credential): string | undefined {
  switch (credential.type) {
    case "login":
      return undefined;
    case "api_key":
      return credential.key;
    case "oauth_token":
      return credential.token;
  }
}
