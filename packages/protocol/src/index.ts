export { isoNow, sleep, systemClock, type Clock } from "./clock.ts";
export type { CallReport, Cost, Payer } from "./models/call-report.ts";
export { configSchema, defaultSection, type Config, type LlmConfig } from "./config/config.ts";
export {
  BACKENDS,
  CLAUDE_CODE_AUTHS,
  ROLES,
  type Backend,
  type ClaudeCodeAuth,
  type Role,
} from "./config/llm-config.ts";
export {
  CONNECTION_DRIVERS,
  SOURCE_TYPES,
  type ConnectionConfig,
  type EmbeddingsConfig,
} from "./config/context-config.ts";
export { samplePatternParts, type SampleMode, type SamplesConfig } from "./config/samples-config.ts";
export { hostPatternProblem, type SandboxMode } from "./config/sandbox-config.ts";
export { NOTIFY_EVENTS, type HookConfig } from "./config/control-config.ts";
export { SECRET_FORM, SECRET_FORMAT, type SecretReference } from "./config/secret-reference.ts";
export { HARMLESS, HARMLESS_VALUES, NEEDS_TRUST } from "./config/trust-mark.ts";
export { duration, DURATION_FORMAT, formatDuration } from "./config/duration.ts";
export { AsyncQueue } from "./async-queue.ts";
export { canonicalJson } from "./canonical-json.ts";
export { inParallel } from "./in-parallel.ts";
export { parseJson } from "./parse-json.ts";
export { readFrames, type Frame } from "./read-frames.ts";
export { REDACTED, Redactor, redactText, redactValue, type StreamRedactor } from "./redaction/redactor.ts";
export { LlmError, type LlmErrorCode } from "./errors/llm-error.ts";
export { MissingVariable, missingVariable } from "./errors/missing-variable.ts";
export { nearest } from "./errors/nearest.ts";
export { TandemError } from "./errors/tandem-error.ts";
export { AnswerUsage } from "./models/answer-usage.ts";
export { addUsage, noUsage, type Usage } from "./models/usage.ts";
export {
  agent,
  agentCreateParams,
  agentUpdateParams,
  metadata as agentMetadata,
  EFFORTS,
  sessionAgent,
  threadAgent,
  tool,
  TOOLSET_TOOLS,
  WEB_LIMITS,
  type Agent,
  type AgentCreateParams,
  type AgentSkill,
  type AgentSkillParams,
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
} from "./api/agents/agents.ts";
export { approval, type Approval, type ApprovalStatus } from "./api/sessions/approvals.ts";
export {
  approvalAnswer,
  type ApprovalAnswer,
  type ApprovalNote,
  type ApprovalOutcome,
} from "./events/approval-answer.ts";
export { QUESTION_TOOL, questionAnswers, questionInput, type Question } from "./events/question.ts";
export {
  AUDIT_KINDS,
  auditEntry,
  auditHead,
  type AuditEntry,
  type AuditHead,
  type AuditKind,
  type AuditNote,
  type AuditVerdict,
} from "./api/server/audit.ts";
export type * from "./api/sessions/history.ts";
export {
  worktree,
  worktreeMerge,
  type WorktreeApply,
  type WorktreeApplyParams,
  type WorktreeMerge,
  type WorktreeMergeParams,
  type WorktreePrune,
  type WorktreeRemoveParams,
  type WorktreeStatus,
  type WorktreeView,
} from "./api/sessions/worktrees.ts";
export {
  BUDGET_UNITS,
  limits,
  type BudgetGauge,
  type BudgetScope,
  type BudgetUnit,
  type Limits,
} from "./config/limits.ts";
export { parseSessionLimits } from "./config/session-limits.ts";
export {
  keptRule,
  verdict,
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
} from "./config/rule.ts";
export type { ProgramGrader } from "./events/define-outcome.ts";
export { outcomeEvaluation, type OutcomeEvaluation } from "./api/sessions/outcome-evaluation.ts";
export { clientEvent, type ClientEvent } from "./events/client-event.ts";
export { userContent, type TextBlock, type ToolResultContent, type UserContent } from "./events/content.ts";
export {
  environment,
  ENVIRONMENT_METADATA,
  LOCAL_ENVIRONMENT,
  type Environment,
  type EnvironmentConfigParams,
  type EnvironmentCreateParams,
  type EnvironmentUpdateParams,
} from "./api/agents/environments.ts";
export { HeartbeatPreconditionFailed } from "./errors/heartbeat-precondition-failed.ts";
export type { EnvironmentKey, Work, WorkHeartbeat, WorkStats } from "./api/agents/work.ts";
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
  type SessionId,
  type SkillId,
  type SkillVersionId,
  type ThreadId,
  type TokenId,
  type WorkerId,
  type DeploymentId,
  type DeploymentRunId,
  type WorkflowRunId,
  type WorkflowRunPhaseId,
} from "./ids.ts";
export { skill, skillVersion, type Skill, type SkillUse, type SkillVersion } from "./api/agents/skills.ts";
export { message, part, type Message, type Part, type PartOf } from "./fold/message.ts";
export type { MessagesOperation, MessagesProxy, PassedAnswer, PassedRequest } from "./models/messages-proxy.ts";
export { addCost, costOf, dearestCostOf, listPriceOf, type ListPrice } from "./models/price.ts";
export {
  completeModel,
  contextWindowOf,
  MODELS_AS_OF,
  tabledModels,
  type ModelDetails,
  type ModelFact,
} from "./models/model-details.ts";
export { project, Projection } from "./fold/projection.ts";
export { callStateOf } from "./fold/project-tools.ts";
export { processWaitText } from "./fold/project-notice.ts";
export { evaluationText } from "./fold/project-outcomes.ts";
export { endOfPreviews } from "./fold/project-previews.ts";
export { RequestError, type RequestErrorCode } from "./errors/request-error.ts";
export {
  file,
  session,
  SESSION_METADATA,
  SESSION_STATUSES,
  thread,
  type FileMetadata,
  type Session,
  type SessionCreateParams,
  type SessionStatus,
  sessionUpdateParams,
  type SessionUpdateParams,
  type Thread,
} from "./api/sessions/sessions.ts";
export {
  MAX_MEMORY_STORES,
  MAX_RESOURCES,
  resourceId,
  type FileResource,
  type FileResourceParams,
  type MemoryStoreResource,
  type RepositoryResource,
  type SessionResource,
  type SessionResourceParams,
} from "./api/sessions/mounted-resource.ts";
export type { Delta, LiveDelta } from "./events/delta.ts";
export { isOnPrimary } from "./events/is-on-primary.ts";
export type { EventOf, LoggedEvent, SessionEvent, SessionEventBody, SessionEventType } from "./events/session-event.ts";
export type { CutShort, StopDetails, StopReason, UsageNote } from "./events/status-event.ts";
export type { Evaluation, Interruption, Permission } from "./events/tool-event.ts";
export type { WorkflowLeaf, WorkflowRunError, WorkflowRunResult } from "./events/workflow-event.ts";
export type { CodeDiagnostic } from "./events/code-diagnostic.ts";
export type { BackgroundTask } from "./api/sessions/session-tasks.ts";
export type { RequestNote } from "./events/request-event.ts";
export type { SandboxState } from "./events/tandem/process-event.ts";
export type { Todo } from "./events/todo.ts";
export type { ModelUsage } from "./events/model-usage.ts";
export type { SessionErrorDetail, SessionErrorType } from "./events/session-error.ts";
export type { FilePatch } from "./events/file-patch.ts";
export { budget, usageSnapshot, type Budget, type UsageSnapshot } from "./events/usage-snapshot.ts";
export * from "./api/server/fleet.ts";
export * as stdio from "./api/stdio.ts";
export {
  tenantCredential,
  tenantId,
  tenantQuotas,
  type CreateTenant,
  type TenantQuotas,
  type TenantUse,
  type TenantView,
  type UpdateTenant,
} from "./api/server/tenants.ts";
export type { PageOf, TwoWayPageOf } from "./api/page.ts";
export { ENDPOINTS, EXTENSIONS, pathOf, type EndpointName } from "./api/endpoints.ts";
export { FORM_BODY, PAGE_SIGNATURE_HEADER, PAGE_TIME_HEADER, pageSignatureText } from "./api/page-signature.ts";
export {
  CONTRACT,
  type BodyInput,
  type BodyOutput,
  type DownloadName,
  type FormInput,
  type FormOutput,
  type FrameOf,
  type JsonName,
  type PassedName,
  type PassedOutput,
  type ParamsOf,
  type QueryInput,
  type QueryOutput,
  type ResponseInput,
  type ResponseOf,
  type SignedName,
  type StreamName,
  type UploadName,
} from "./api/contract.ts";
export { measureFormula, metricFormula } from "./metric-formula.ts";
export type { CredentialsReport } from "./api/credentials.ts";
export type { KnownMcpServer } from "./api/context/mcp-servers.ts";
export { MODEL_LINES } from "./api/server/models.ts";
export type { NotificationTarget } from "./api/server/notifications.ts";
export {
  lastDelivery,
  webhookDelivery,
  webhookEndpoint,
  type WebhookDelivery,
  type WebhookEndpointView,
} from "./api/server/webhooks.ts";
export { sessionOutcome, type FeedItem, type FeedSession, type SessionOutcome } from "./api/sessions/overview.ts";
export type { TestedCall } from "./api/sessions/rules.ts";
export { refusedHost, sandboxHost, type RefusedHost, type SandboxHost } from "./api/server/sandbox.ts";
export {
  triggerFilter,
  triggerVerification,
  type Trigger,
  type TriggerCreateParams,
  type TriggerDelivery,
  type TriggerFilter,
  type TriggerReceipt,
  type TriggerUpdateParams,
  type TriggerVerification,
  type TriggerWithSecret,
} from "./api/agents/triggers.ts";
export {
  credentialAuth,
  type CapturedResponse,
  type CredentialAuthParams,
  type CredentialAuthUpdate,
  type CredentialCreateParams,
  type CredentialUpdateParams,
  type CredentialValidation,
  type Vault,
  type VaultCreateParams,
  type VaultCredential,
  type VaultCredentialAuth,
  type VaultUpdateParams,
} from "./api/agents/vaults.ts";
export type { VaultLogin, VaultLoginFinish, VaultLoginParams } from "./api/agents/vault-logins.ts";
export { STATUS_EVENTS, StatusTimes, type SessionTimes } from "./events/status-times.ts";
export { PREVIEWS } from "./api/sessions/previews.ts";
export { ANTHROPIC_EVENT_TYPES, isOwnType, type StreamFrame } from "./api/sessions/session-events.ts";
export type { FileChange, FolderEntry, FolderFile } from "./api/sessions/session-folder.ts";
export type { SlashCommand } from "./api/sessions/commands.ts";
export { unready, type Unready } from "./api/server/readiness.ts";
export { errorBody, type ErrorBody } from "./api/server/error-body.ts";
export * from "./api/server/sign-in.ts";
export { SIGN_IN_CODES_PATH, SIGN_IN_PATH, SIGN_OUT_PATH } from "./api/server/sign-in-paths.ts";
export type { Finding, ServerStatus } from "./api/server/status.ts";
export type { Token } from "./api/server/tokens.ts";
export type { Trust } from "./api/server/trust.ts";
export { announcementsOf } from "./webhooks/session-announcements.ts";
export { announcement, type Announcement, type WebhookEvent } from "./webhooks/announcement.ts";
export { WEBHOOK_EVENTS, type WebhookEventType } from "./webhooks/webhook-event.ts";
export {
  AGENT_METADATA,
  DEFAULT_ITERATIONS,
  JOB_STATES,
  PAUSING_ERRORS,
  SCOPES,
  type CredentialState,
  type SandboxViolationKind,
  type ToolCallState,
  isWorkerTool,
  WORKER_TOOLS,
  type WorkerTool,
} from "./words.ts";
export {
  deployment,
  deploymentRun,
  deploymentCreateParams,
  missedRuns,
  pausedReason,
  runError,
  type Deployment,
  type DeploymentCreateParams,
  type DeploymentRun,
  type DeploymentRunError,
  type DeploymentUpdateParams,
} from "./api/agents/deployments.ts";
export { cronTimes, upcomingTimes } from "./cron/cron-times.ts";
export { describeCron } from "./cron/describe-cron.ts";
export { parseCron, type Cron } from "./cron/parse-cron.ts";
export { isTimeZone } from "./cron/time-zone.ts";
export { readVerdictLine, verdictLine } from "./verdict-line.ts";
export {
  checkMemoryPath,
  MemoryPathConflict,
  memoryPathsOverlap,
  MemoryPreconditionFailed,
} from "./memory/memory-path.ts";
export {
  type FullEntry,
  memoryStoreRecord,
  type MemoryStoreRecord,
  memoryVersion,
  type MemoryVersion,
  type MemoryVersionQuery,
  type MemoryWriter,
  type StoreEntry,
  type StoreMemories,
  type VersionActor,
} from "./memory/memory-store.ts";
// The context has its own list, because this file would be too long.
export * from "./api/context/index.ts";
export {
  CASSETTE_VERSION,
  cassette,
  FOLDER_MARK,
  PLANS_MARK,
  type Cassette,
  type CassetteAdded,
  type CassetteBlock,
  type CassetteFolder,
  type CassetteHeader,
  type CassetteInput,
  type CassetteStep,
  type CassetteStepOf,
} from "./cassettes/cassette.ts";
export { formatCassette, parseCassette } from "./cassettes/cassette-file.ts";
export {
  describeDivergence,
  type CassetteReport,
  type ComparisonReport,
  type ReplayReport,
  type RunSummary,
  type ShownDivergence,
  type TestReport,
} from "./cassettes/cassette-report.ts";
export { findDivergence, type Divergence } from "./cassettes/find-divergence.ts";
export type { UnrepeatableType } from "./cassettes/input-of.ts";
export { readableLines } from "./cassettes/readable-lines.ts";
export { maskText, normaliseSteps, TEXT_RULES, type NormalStep, type ReplayMode } from "./cassettes/normalise-steps.ts";
export { markPaths, plansFolderIn, unmarkPaths, type SessionPaths } from "./cassettes/mark-paths.ts";
export { resultChecksum } from "./cassettes/result-checksum.ts";
export { stepsOf } from "./cassettes/steps-of.ts";
