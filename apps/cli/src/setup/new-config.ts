import { editConfig } from "@tandem/tandem/config";
import { type Choices, toEdits } from "./choices.ts";

const HEAD = `# What Tandem does in this folder. Every setting with its default: \`tandem config show\`.
# A secret never stands here, only the place where it is kept: env:NAME, file:path or command:program …

llm:
  provider:
    # Who answers: claude-code, anthropic, vertex or gateway.
    backend: none
`;

const CLAUDE_CODE = `
  claudeCode:
    # Which single credential Claude Code gets, and so who pays: login, api_key or oauth_token.
    auth: login
`;

const MODELS = `
  # Which model serves which role: an alias (sonnet, opus, haiku) or a full id (\`tandem models\`).
  models:
    # Serves every role that is not named below.
    default: sonnet
    # triage: haiku
    # candidateExtraction: sonnet
    # curator: opus
    # reconcile: opus
    # repair: haiku

  # limits:
  #   concurrency: 4 # LLM calls at once
  #   patience: 5m # how long a call waits for a quota to reset
`;

/** The text of a new \`tandem.yaml\`. */
export function newConfig(choices: Choices): string {
  const template = HEAD + (choices.backend === "claude-code" ? CLAUDE_CODE : "") + MODELS;
  return editConfig(template, toEdits(choices));
}
