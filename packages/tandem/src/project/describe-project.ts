import type { Backend, ClaudeCodeAuth, LlmConfig, Payer } from "@tandem/protocol";
import type { IgnoredSetting, RoleModel } from "@tandem/runtime";
import type { Project } from "../config/load-project.ts";

const BY_AUTH: Record<ClaudeCodeAuth, Payer> = {
  login: "claude_login",
  api_key: "anthropic_api_key",
  oauth_token: "claude_oauth_token",
};

/** Display names of the payers. */
export const PAYERS: Record<Payer, string> = {
  claude_login: "your Claude login",
  claude_oauth_token: "your Claude OAuth token",
  anthropic_api_key: "the Anthropic API key",
  google_cloud_project: "the Google Cloud project",
  gateway_key: "the gateway key",
  nobody: "nobody",
};

/** The payer of sessions, which run on Claude Code. The backend setting applies to single calls. */
export const sessionPayerOf = ({ claudeCode }: LlmConfig): Payer => BY_AUTH[claudeCode.auth];

/** The payer according to the config alone, without a request. */
export function payerOf(llm: LlmConfig): Payer {
  const byBackend: Record<Backend, Payer> = {
    none: "nobody",
    anthropic: "anthropic_api_key",
    vertex: "google_cloud_project",
    gateway: "gateway_key",
    "claude-code": sessionPayerOf(llm),
  };
  return byBackend[llm.provider.backend];
}

/** The reference of the credential in use. Undefined for a login and for Google's defaults. */
export function credentialOf({ provider, claudeCode }: LlmConfig): string | undefined {
  switch (provider.backend) {
    case "none":
      return undefined;
    case "anthropic":
      return provider.anthropic.apiKey;
    case "vertex":
      return provider.vertex.credentials;
    case "gateway":
      return provider.gateway.apiKey;
    case "claude-code":
      if (claudeCode.auth === "login") return undefined;
      return claudeCode.auth === "api_key" ? claudeCode.apiKey : claudeCode.oauthToken;
  }
}

/** A reference for display: names the program, but not its arguments. */
export const describeSecret = (reference: string): string =>
  reference.startsWith("command:") ? `${reference.split(/\s/, 1)[0]} …` : reference;

/** Summarizes the config without any request. */
export async function describeProject({
  config: { llm },
}: Project): Promise<{ models: RoleModel[]; ignored: IgnoredSetting[] }> {
  const runtime = await import("@tandem/runtime");
  return { models: runtime.roleModels(llm.models), ignored: runtime.ignoredSettings(llm) };
}
