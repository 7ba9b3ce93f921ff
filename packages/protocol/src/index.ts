export type { CallReport, Cost, Payer } from "./call-report.ts";
export {
  BACKENDS,
  CLAUDE_CODE_AUTHS,
  ROLES,
  configSchema,
  defaultConfig,
  type Backend,
  type ClaudeCodeAuth,
  type Config,
  type LlmConfig,
  type Role,
} from "./config.ts";
export { CONNECTION_DRIVERS, SOURCE_TYPES, type ConnectionConfig, type EmbeddingsConfig } from "./context-config.ts";
export { HOOK_EVENTS, NOTIFY_EVENTS, type HookConfig, type McpServerConfig } from "./control-config.ts";
export { NEEDS_TRUST, SECRET_FORMAT, type SecretReference } from "./secret-reference.ts";
export { duration, DURATION_FORMAT, formatDuration } from "./duration.ts";
export { LlmError, type LlmErrorCode } from "./llm-error.ts";
export { nearest } from "./nearest.ts";
export { TandemError } from "./tandem-error.ts";
export { addUsage, noUsage, type Usage } from "./usage.ts";
export {
  agent,
  agentCreateParams,
  agentUpdateParams,
  EFFORTS,
  sessionAgent,
  threadAgent,
  tool,
  TOOLSET_TOOLS,
  type Agent,
  type AgentCreateParams,
  type AgentUpdateParams,
  type CustomTool,
  type McpServer,
  type Multiagent,
  type PermissionPolicy,
  type SessionAgent,
  type ThreadAgent,
  type Tool,
  type ToolParams,
  type ToolsetTool,
} from "./agent.ts";
export {
  approval,
  APPROVAL_SCOPES,
  APPROVAL_STATUSES,
  approvalAnswer,
  QUESTION_TOOL,
  questionAnswers,
  questionInput,
  type Approval,
  type ApprovalAnswer,
  type ApprovalNote,
  type ApprovalOutcome,
  type ApprovalScope,
  type ApprovalStatus,
  type Question,
} from "./approval.ts";
export {
  AUDIT_KINDS,
  auditEntry,
  auditHead,
  auditVerdict,
  type AuditEntry,
  type AuditHead,
  type AuditKind,
  type AuditNote,
  type AuditVerdict,
} from "./audit.ts";
export {
  forkParams,
  rewindOutcome,
  rewindParams,
  rewindUndoParams,
  sessionCheckpoints,
  sessionDiff,
  type ForkParams,
  type RewindOutcome,
  type RewindParams,
  type RewindUndoParams,
  type SessionCheckpoints,
  type SessionDiff,
} from "./history.ts";
export {
  worktree,
  worktreeApply,
  worktreeApplyParams,
  worktreeMerge,
  worktreeMergeParams,
  worktreePrune,
  worktreeRemoveParams,
  worktreeStatus,
  type WorktreeApply,
  type WorktreeApplyParams,
  type WorktreeMerge,
  type WorktreeMergeParams,
  type WorktreePrune,
  type WorktreeRemoveParams,
  type WorktreeStatus,
  type WorktreeView,
} from "./worktree.ts";
export {
  BUDGET_SCOPES,
  BUDGET_UNITS,
  budgetGauge,
  limits,
  type BudgetGauge,
  type BudgetScope,
  type BudgetUnit,
  type Limits,
} from "./limits.ts";
export {
  keptRule,
  PERMISSION_MODES,
  rule,
  RULE_ACTIONS,
  RULE_SCOPES,
  type KeptRule,
  type PermissionMode,
  type Rule,
  type RuleAction,
  type RuleScope,
  type Verdict,
} from "./rule.ts";
export { clientEvent, REFUSED_CLIENT_EVENTS, type ClientEvent, type ClientEventType } from "./client-event.ts";
export { userContent, type TextBlock, type ToolResultContent, type UserContent } from "./content.ts";
export {
  environment,
  ENVIRONMENT_METADATA,
  environmentCreateParams,
  environmentUpdateParams,
  LOCAL_ENVIRONMENT,
  type Environment,
  type EnvironmentConfigParams,
  type EnvironmentCreateParams,
  type EnvironmentUpdateParams,
} from "./environment.ts";
export {
  isId,
  newId,
  type AgentId,
  type ContextId,
  type EnvironmentId,
  type EventId,
  type FileId,
  type IdKind,
  type JobId,
  type MemoryId,
  type MemoryStoreId,
  type ProposalId,
  type RuleId,
  type SessionId,
  type ThreadId,
  type TokenId,
  type WorkerId,
} from "./ids.ts";
export { message, part, type Message, type Part, type PartOf } from "./message.ts";
export { addCost, costOf, dearestCostOf, PRICES_AS_OF, type ListPrice } from "./price.ts";
export {
  completeModel,
  contextWindowOf,
  MODELS_AS_OF,
  tabledModels,
  type ModelDetails,
  type ModelFact,
} from "./model-details.ts";
export { project, Projection } from "./project.ts";
export { endOfPreviews } from "./project-previews.ts";
export { StandingPreviews } from "./standing-previews.ts";
export { RequestError, type RequestErrorCode } from "./request-error.ts";
export {
  budget,
  file,
  session,
  SESSION_METADATA,
  SESSION_STATUSES,
  sessionCreateParams,
  sessionUpdateParams,
  thread,
  usageSnapshot,
  type Budget,
  type FileMetadata,
  type Session,
  type SessionCreateParams,
  type SessionStatus,
  type SessionUpdateParams,
  type Thread,
  type UsageSnapshot,
} from "./session.ts";
export {
  isOnPrimary,
  type BackgroundTask,
  type Delta,
  type Evaluation,
  type EventOf,
  type FilePatch,
  type Interruption,
  type LiveDelta,
  type LoggedEvent,
  type ModelUsage,
  type Permission,
  type RequestNote,
  type SessionErrorDetail,
  type SessionErrorType,
  type SessionEvent,
  type SessionEventBody,
  type SessionEventType,
  type CutShort,
  type StopDetails,
  type StopReason,
  type Todo,
  type UsageNote,
} from "./session-event.ts";
export {
  deadLetter,
  fleetLimit,
  fleetStatus,
  fleetWorker,
  type DeadLetter,
  type FleetLimit,
  type FleetQueue,
  type FleetStatus,
  type FleetWorker,
} from "./fleet.ts";
export { tenantCredential, tenantId, tenantQuotas, type TenantCredential, type TenantQuotas } from "./tenant.ts";
