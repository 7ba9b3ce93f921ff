// Copied instead of imported: the schema library alone would double the time of `tandem --help`. A test compares them with the
// schema.
export const BACKEND_CHOICES = ["claude-code", "anthropic", "vertex", "gateway"];
export const AUTH_CHOICES = ["login", "api_key", "oauth_token"];
export const ROLE_CHOICES = ["default", "triage", "candidateExtraction", "curator", "reconcile", "repair"];
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];
export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
export const DEMO_CHOICES = ["always", "if-needed"] as const;
export type DemoChoice = (typeof DEMO_CHOICES)[number];
export const FLEET_ROLE_CHOICES = ["all", "server", "worker"] as const;
export const SCOPE_CHOICES = ["read", "run", "admin"];
export const STATUS_CHOICES = ["idle", "running", "rescheduling", "terminated"];
export const TOOL_CHOICES = ["bash", "edit", "read", "write", "glob", "grep", "web_fetch", "web_search"];
export const LEVEL_CHOICES = ["trace", "debug", "info", "warn", "error", "fatal"];
export const DRIVER_CHOICES = ["sqlite", "postgres", "duckdb", "mysql"];
export const MEMORY_SCOPE_CHOICES = ["user", "project", "agent"];
export const PROPOSAL_STATE_CHOICES = ["open", "accepted", "partly", "rejected"];
export const HUNK_KIND_CHOICES = ["structure", "key", "profile", "join", "description", "wiki", "memory", "metric"];
export const HUNK_ORIGIN_CHOICES = ["person", "session", "source", "model", "data"];
export const SEARCH_KIND_CHOICES = ["page", "metric", "memory", "table", "column", "value", "chunk"];
export const JOB_STATE_CHOICES = ["queued", "running", "interrupted", "done", "partly", "failed", "cancelled"];
export const RULE_ACTION_CHOICES = ["allow", "ask", "deny"];
export const EFFORT_CHOICES = ["low", "medium", "high", "xhigh", "max"];
/** Permission modes as users write them, and as Claude Code and the API name them. */
export const WIRE_MODES: Readonly<Record<string, string>> = {
  ask: "default",
  "accept-edits": "acceptEdits",
  plan: "plan",
  "dont-ask": "dontAsk",
  "bypass-permissions": "bypassPermissions",
};
export const MODE_CHOICES = Object.keys(WIRE_MODES);
export const MCP_CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "opencode", "zed"] as const;
export type McpClient = (typeof MCP_CLIENTS)[number];
