// Constants that the page also imports. Kept apart from the schemas so that zod stays out of its bundle.

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** The tool name of an agent's question, answered by a `user.custom_tool_result`. */
export const QUESTION_TOOL = "ask_user_question";

/** The built-in, unchangeable environment: the folder where the server was started. */
export const LOCAL_ENVIRONMENT = "env_local";

/** Keys in an environment's `metadata` for settings that Anthropic's shapes lack. */
export const ENVIRONMENT_METADATA = {
  /** A folder on this machine, absolute. */
  path: "tandem.path",
  /** `worktree` gives each session a git worktree of that folder. */
  isolation: "tandem.isolation",
  /** The branch or commit that the worktree starts from. */
  branch: "tandem.branch",
  /** Labels that a worker must have, such as `gpu=yes,region=eu`. */
  needs: "tandem.needs",
  /** The folder is on a volume of this name: workers with the label `volume=NAME` have it at the same path. */
  volume: "tandem.volume",
  /** A git remote; each session gets a worktree of a clone of it. */
  git: "tandem.git",
} as const;

/** Token scopes, from least to most powerful. */
export const SCOPES = ["read", "run", "admin"] as const;

/**
 * `interrupted` is derived, never stored: a running job whose lease was released or has expired, and which can be resumed.
 * `partly`: the job ended, and at least one item was skipped or failed.
 */
export const JOB_STATES = ["queued", "running", "interrupted", "done", "partly", "failed", "cancelled"] as const;

export const BUDGET_UNITS = ["usd", "tokens", "seconds", "turns", "requests"] as const;

/** Permissions of a session when no rule matches. The names are Claude Code's. */
export const PERMISSION_MODES = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const;

export const RULE_ACTIONS = ["allow", "ask", "deny"] as const;

/** From least to most specific. */
export const RULE_SCOPES = ["user", "project", "agent", "session"] as const;

/**
 * The states of a call that a person was asked about.
 * - `interrupted`: it did not run, and will not.
 * - `unknown`: it was started and its process died, so it may have run.
 */
export const TOOL_CALL_STATES = [
  "waiting",
  "allowed",
  "running",
  "done",
  "failed",
  "denied",
  "expired",
  "interrupted",
  "unknown",
] as const;
export type ToolCallState = (typeof TOOL_CALL_STATES)[number];

/** Kinds of blocked access: a connection, a file, or more of a resource than a limit allows. */
export const SANDBOX_VIOLATIONS = ["host", "path", "limit"] as const;
export type SandboxViolationKind = (typeof SANDBOX_VIOLATIONS)[number];

/** Evaluations of an outcome that does not name a maximum. */
export const DEFAULT_ITERATIONS = 3;

/** Kinds of audit entries; the part before the dot is the subject. */
export const AUDIT_KINDS = [
  // Sessions
  "session.created",
  "session.changed",
  "session.archived",
  "session.deleted",
  "session.forked",
  "session.rewound",
  "resource.changed",
  "file.changed",
  "session.recovered",
  // People and clients
  "message.sent",
  "message.dropped",
  "turn.interrupted",
  "turn.ended",
  "turn.failed",
  "command.used",
  "shell.run",
  "branch.pushed",
  "outcome.evaluated",
  // Agents
  "call.requested",
  "call.answered",
  "call.resolved",
  "call.finished",
  "call.denied",
  "hook.asked",
  "files.changed",
  // Spending
  "cost.counted",
  "model.called",
  "budget.reached",
  "budget.changed",
  "quota.parked",
  // Permissions
  "mode.changed",
  "model.changed",
  "rule.added",
  "rule.removed",
  "sandbox.host_allowed",
  "sandbox.host_revoked",
  "trust.given",
  "trust.revoked",
  "webhook.created",
  "webhook.updated",
  "webhook.deleted",
  "webhook.rotated",
  "token.created",
  "token.revoked",
  "tenant.created",
  "tenant.changed",
  "tenant.archived",
  "tenant.restored",
  "tenant.deleted",
  "switch.stopped",
  "switch.released",
  // Skills
  "skill.created",
  "skill.version_created",
  "skill.version_deleted",
  "skill.deleted",
  // Deployments
  "deployment.created",
  "deployment.updated",
  "deployment.paused",
  "deployment.unpaused",
  "deployment.archived",
  "deployment.run",
  "trigger.created",
  "trigger.updated",
  "trigger.deleted",
  // Vaults
  "vault.created",
  "vault.updated",
  "vault.archived",
  "vault.deleted",
  "vault_credential.created",
  "vault_credential.updated",
  "vault_credential.archived",
  "vault_credential.deleted",
  "vault_credential.refresh_failed",
  // Context
  "connection.added",
  "source.added",
  "sql.run",
  // Worktrees
  "worktree.created",
  "worktree.merged",
  "worktree.applied",
  "worktree.undone",
  "worktree.removed",
  // Processes
  "fleet.requeued",
  "fleet.drained",
] as const;

/** From harmless to severe: the verdict on a statement is that of its worst part. */
export const VERDICTS = [
  "proven",
  "deviates",
  "lossy",
  "can_inflate",
  "unknown_join",
  "wrong_grain",
  "inflated",
  "not_judged",
] as const;
export type VerdictKind = (typeof VERDICTS)[number];

/** Keys in a session's `metadata` for settings that Anthropic's shapes lack. */
export const SESSION_METADATA = {
  /** JSON Schema of the object that every turn returns. */
  outputSchema: "tandem.output_schema",
  /** At most this many model requests in a turn. */
  maxTurns: "tandem.max_turns",
  /** `replace` replaces Claude Code's system prompt with the agent's. */
  system: "tandem.system",
  /** Permissions when no rule matches: see `PERMISSION_MODES`. */
  permissionMode: "tandem.permission_mode",
  /** Overrides the agent's model and effort for the next turns. */
  model: "tandem.model",
  effort: "tandem.effort",
  /** JSON: `{"turn": Limits, "session": Limits}`, in addition to the budget in money. */
  limits: "tandem.limits",
  /** `wait`: a turn that hits a quota with a reset time continues by itself then. */
  onQuota: "tandem.on_quota",
  /** The expiry of an approval, such as `8h`; by default none. */
  approvalExpiry: "tandem.approval_expiry",
  /** A client answers every tool call within this time, such as `30s`; a call without an answer is denied. */
  policyHook: "tandem.policy_hook",
  /** `off`: the agent cannot ask questions, for unattended work. */
  questions: "tandem.questions",
  /** The name of its worktree's branch after `tandem/`; by default the session's id. */
  worktree: "tandem.worktree",
  /** The person who asked for the work, as `Name <address>`: the co-author of commits that a bot pushes. */
  requester: "tandem.requester",
  /** The source session of a fork; set by the engine. */
  forkedFrom: "tandem.forked_from",
  /** The imported conversation of Claude Code; set by the import. */
  importedFrom: "tandem.imported_from",
} as const;

/** Our keys in the metadata of agents. */
export const AGENT_METADATA = {
  /** Ids of vaults, separated by commas: sessions of the agent may use them, after those that the session names. */
  vaults: "tandem.vaults",
} as const;

/** Whether a credential of a vault works, as far as Tandem knows. */
export const CREDENTIAL_STATES = ["unverified", "valid", "invalid", "expired", "refresh_failed", "archived"] as const;
export type CredentialState = (typeof CREDENTIAL_STATES)[number];

/** Errors of a scheduled run that pause its deployment. */
export const PAUSING_ERRORS = [
  "environment_archived_error",
  "environment_not_found_error",
  "agent_archived_error",
  "vault_not_found_error",
  "vault_archived_error",
  "file_not_found_error",
  "memory_store_archived_error",
  "skill_not_found_error",
  "session_resource_not_found_error",
  "workspace_archived_error",
  "organization_disabled_error",
  "self_hosted_resources_unsupported_error",
  "mcp_egress_blocked_error",
  "unknown_error",
] as const;
/** Errors of a run after which the schedule continues. */
export const PASSING_ERRORS = ["session_rate_limited_error", "session_creation_rejected_error"] as const;

/** The tools that a worker of a self-hosted environment runs, with Claude Code's names, which rules and policies use. */
export const WORKER_TOOLS = {
  bash: "Bash",
  read: "Read",
  write: "Write",
  edit: "Edit",
  glob: "Glob",
  grep: "Grep",
} as const;
export type WorkerTool = keyof typeof WORKER_TOOLS;

export const isWorkerTool = (name: string): name is WorkerTool => Object.hasOwn(WORKER_TOOLS, name);
