import { editConfig } from "@tandem/tandem/config";
import { type Choices, toEdits } from "./choices.ts";

const HEAD = `# Tandem's settings for this folder. All settings and defaults: \`tandem config show\`.
# Write secrets as references only: env:NAME, file:path or command:program …

llm:
  provider:
    # Model backend: claude-code, anthropic, vertex or gateway.
    backend: none
`;

const CLAUDE_CODE = `
  claudeCode:
    # Credential of Claude Code, which decides who is billed: login, api_key or oauth_token.
    auth: login
`;

const MODELS = `
  # Model of each role: an alias (sonnet, opus, haiku) or a full id (\`tandem models\`).
  models:
    # For every role that is not listed below.
    default: sonnet
    # triage: haiku
    # candidateExtraction: sonnet
    # curator: opus
    # reconcile: opus
    # repair: haiku

  # limits:
  #   concurrency: 4 # concurrent model calls
  #   patience: 5m # how long a call waits for a quota reset
`;

/** The text of a new \`tandem.yaml\`. */
export function newConfig(choices: Choices): string {
  const template = HEAD + (choices.backend === "claude-code" ? CLAUDE_CODE : "") + MODELS;
  return editConfig(template, toEdits(choices));
}
