import type { ConversationOutput, Credential } from "@tandem/claude-code";

/** Tandem's tokens and Anthropic's keys, from any source. */
const SHAPES = /\btandem_[\w-]{20,}|\bsk-ant-[\w-]{8,}/g;
/** Stands for a credential in everything that is stored or served. */
export const REDACTED = "[redacted]";

/**
 * Redacts credentials in a conversation's output before it is stored or sent: a command may print a key that it found. The
 * model itself has already seen it.
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

/** Repeated here, so that the claude-code package need not be loaded. */
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
