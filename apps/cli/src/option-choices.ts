// Spelled out here, not imported: the schema library alone would double the time of `tandem --help`. A test compares
// them with the schema.
export const BACKEND_CHOICES = ["claude-code", "anthropic", "vertex", "gateway"];
export const AUTH_CHOICES = ["login", "api_key", "oauth_token"];
export const ROLE_CHOICES = ["default", "triage", "candidateExtraction", "curator", "reconcile", "repair"];
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];
