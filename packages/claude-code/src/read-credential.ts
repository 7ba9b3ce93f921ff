import type { LlmConfig, SecretReference } from "@tandem/protocol";
import type { Credential } from "./credential.ts";

/** Reads exactly the credential chosen in the config; others are not read at all. */
export async function readCredential(
  { auth, apiKey, oauthToken, baseUrl }: LlmConfig["claudeCode"],
  {
    readSecret,
    hostVariables,
  }: {
    readSecret: (reference: SecretReference) => Promise<string>;
    hostVariables: Readonly<Record<string, string | undefined>>;
  },
): Promise<Credential> {
  switch (auth) {
    case "login": {
      const configDir = hostVariables["CLAUDE_CONFIG_DIR"];
      return { type: "login", ...(configDir && { configDir }) };
    }
    case "api_key":
      return { type: "api_key", key: await readSecret(apiKey), ...(baseUrl && { baseUrl }) };
    case "oauth_token":
      return { type: "oauth_token", token: await readSecret(oauthToken) };
  }
}
