// Words that a page needs too, apart from the shapes: who imports these brings no checker of shapes along.

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** The name under which a question of the agent's arrives, as a call that takes a `user.custom_tool_result`. */
export const QUESTION_TOOL = "ask_user_question";

/** There from the start and not to be changed: the folder where the server was started. */
export const LOCAL_ENVIRONMENT = "env_local";

/** Where an environment says what Anthropic's shapes have no place for, in its `metadata`. */
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

/** What a token may do, from the least to the most. */
export const SCOPES = ["read", "run", "admin"] as const;

/**
 * `interrupted` is derived, never stored: a running job whose lease was released or has expired, and which can be resumed.
 * `partly`: the job ended, and at least one item was skipped or failed.
 */
export const JOB_STATES = ["queued", "running", "interrupted", "done", "partly", "failed", "cancelled"] as const;

export const BUDGET_UNITS = ["usd", "tokens", "seconds", "turns", "requests"] as const;

/** How much a session may do where no rule says anything. The words are Claude Code's. */
export const PERMISSION_MODES = ["default", "acceptEdits", "plan", "bypassPermissions"] as const;

export const RULE_ACTIONS = ["allow", "ask", "deny"] as const;

/** From the least specific to the most. */
export const RULE_SCOPES = ["user", "project", "agent", "session"] as const;

/** What an entry is about. What stands before the dot is its subject. */
export const AUDIT_KINDS = [
  // Sessions
  "session.created",
  "session.changed",
  "session.archived",
  "session.deleted",
  "session.forked",
  "session.rewound",
  "session.recovered",
  // What people and clients ask
  "message.sent",
  "message.dropped",
  "turn.interrupted",
  "turn.ended",
  "turn.failed",
  "command.used",
  "shell.run",
  // What agents do
  "call.requested",
  "call.answered",
  "call.resolved",
  "call.finished",
  "call.denied",
  "hook.asked",
  "files.changed",
  // What is spent
  "cost.counted",
  "budget.reached",
  "budget.changed",
  "quota.parked",
  // What may be done
  "mode.changed",
  "model.changed",
  "rule.added",
  "rule.removed",
  "trust.given",
  "trust.revoked",
  "token.created",
  "token.revoked",
  "tenant.created",
  "tenant.changed",
  "tenant.archived",
  "tenant.restored",
  "tenant.deleted",
  "switch.stopped",
  "switch.released",
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

/** Where a session says what Anthropic's shapes have no place for, in its `metadata`. */
export const SESSION_METADATA = {
  /** JSON Schema of the object that every turn ends with. */
  outputSchema: "tandem.output_schema",
  /** At most this many model requests in a turn. */
  maxTurns: "tandem.max_turns",
  /** `replace` puts the agent's system prompt in the place of Claude Code's own. */
  system: "tandem.system",
  /** How much it may do where no rule says anything: see `PERMISSION_MODES`. */
  permissionMode: "tandem.permission_mode",
  /** The model and the effort of the next turns, in place of the agent's. */
  model: "tandem.model",
  effort: "tandem.effort",
  /** JSON: `{"turn": Limits, "session": Limits}`, beside the budget in money. */
  limits: "tandem.limits",
  /** `wait`: a turn that meets a quota with a reset time goes on by itself then. */
  onQuota: "tandem.on_quota",
  /** How long an approval waits before it is denied, such as `8h`; without it, for ever. */
  approvalExpiry: "tandem.approval_expiry",
  /** `off`: the agent cannot ask questions, for work that nobody watches. */
  questions: "tandem.questions",
  /** The name of its worktree's branch, after `tandem/`; without it, the session's id. */
  worktree: "tandem.worktree",
  /** The session that it was forked from; set by the engine. */
  forkedFrom: "tandem.forked_from",
  /** The conversation of Claude Code's that it was read from; set by the import. */
  importedFrom: "tandem.imported_from",
} as const;
