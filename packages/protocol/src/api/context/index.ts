export { MEMORY_SCOPES, type ContextMemory } from "./context-memories.ts";
export type { Passage, WikiPage, WikiPageSummary } from "./context-pages.ts";
export {
  SEARCH_KINDS,
  searchHit,
  type ContextHit,
  type ContextOverview,
  type JoinPath,
  type SqlAnswer,
  type TableDescription,
  type TableGraph,
  type TableSummary,
} from "./context.ts";
export {
  EVAL_ARMS,
  type EvalArm,
  type EvalChecks,
  type EvalComparison,
  type EvalFileSummary,
  evalReport,
  type EvalReport,
  type EvalResult,
  type EvalScore,
  type EvalTally,
  type EvalTrial,
} from "./evals.ts";
export {
  metricAnswer,
  metricQuestion,
  metricSummary,
  type MetricAnswer,
  type MetricDefinition,
  type MetricField,
  type MetricProblem,
  type MetricSummary,
} from "./metrics.ts";
export { metricQuery, METRIC_RANGES, type MetricFilter, type MetricQuery } from "./metric-query.ts";
export { statementVerdict, VERDICTS, type StatementVerdict, type VerdictKind, type VerdictPart } from "./verdict.ts";
export { evidence, type Evidence } from "./evidence.ts";
export type { ConnectionTest, SourceTest } from "./context-setup.ts";
export {
  capturedMemories,
  ingestReport,
  scanResult,
  type CapturedMemories,
  type CapturedText,
  type IngestReport,
  type JobProgress,
  type PrivacyReport,
  type ProposedLine,
  type ScanResult,
} from "./job-results.ts";
export type { Job, JobError, JobEvent, JobParams, JobPlan, JobResults } from "./jobs.ts";
export { MEMORY_STORE_PAIRS } from "./memory-stores.ts";
export { VERSION_OPERATIONS, type MemoryActor } from "./memory-versions.ts";
export {
  ASPECTS,
  HUNK_KINDS,
  HUNK_ORIGINS,
  PROPOSAL_FILES,
  PROPOSAL_STATES,
  type Change,
  type Decision,
  type Hunk,
  type HunkGroup,
  type Proposal,
  type ProposalSummary,
} from "./proposals.ts";
export { runEvent, type RunEvent } from "./run-event.ts";
