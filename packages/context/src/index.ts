export { describeEvidence, evidence, type Evidence } from "./evidence.ts";
export { openContext, type Context, type ContextSettings } from "./open-context.ts";
export type { CommitMessage, ContextFolder, ContextWorktree, FileChange } from "./folder/context-folder.ts";
export { openContextFolder, type FolderSettings } from "./folder/open-context-folder.ts";
export { describeProblem, type FileProblem } from "./file-problem.ts";
export { parseTableFile, type ParsedTableFile } from "./catalogue/table-file.ts";
export { removeTableFile, updateTableFile } from "./catalogue/update-table-file.ts";
export type { FoundTable } from "./catalogue/wanted-table.ts";
export { tableKey, tablePath, type TableIdentity } from "./catalogue/table-path.ts";
export {
  ASPECTS,
  proposal,
  PROPOSAL_STATES,
  proposalSummary,
  type Aspect,
  type Change,
  type Decision,
  type Hunk,
  type Proposal,
  type ProposalSummary,
} from "./proposals/proposal.ts";
export type { AcceptRules } from "./proposals/accept-rules.ts";
export { createProposals, type ProposalParts } from "./proposals/create-proposals.ts";
export { hunkFilter, type HunkFilter } from "./proposals/hunk-filter.ts";
export { hunkGroup, type HunkGroup } from "./proposals/hunk-groups.ts";
export type { Draft, ProposalPage, ProposalPreview, Proposals, Support } from "./proposals/proposals.ts";
export type { Budget, LlmSource } from "./runs/metered-llm.ts";
export { runEvent, type Run, type RunEvent } from "./runs/job-run.ts";
export { tableFile, type TableFile } from "./catalogue/table-file.ts";
export {
  holdsFor,
  isExpired,
  MEMORY_SCOPES,
  memoryPath,
  parseMemory,
  renderMemory,
  type MemoryFile,
  type MemoryReader,
  type MemoryScope,
  type ParsedMemory,
} from "./memory/memory-file.ts";
export { contradictionsOf, Memories, type StoredMemory } from "./memory/memories.ts";
export { findMemory, forget, keep, remember, type Remembered, type Words } from "./memory/remember.ts";
export { captureIsOff, memoryKind, rememberKind } from "./memory/memory-kind.ts";
export type { Captured } from "./memory/capture-session.ts";
export type { TextCaptured } from "./memory/capture-text.ts";
export { MemoryCapture, type MemoryCaptureParts } from "./memory/memory-capture.ts";
export type { MemoryParts } from "./memory/memory-parts.ts";
export { MemoryStores } from "./memory/memory-stores.ts";
export { checkPage, citationsIn, type Citation, type Known } from "./wiki/check-page.ts";
export {
  isPageKey,
  pageKeyFrom,
  pageKeyOf,
  pagePath,
  parsePage,
  renderPage,
  type PageFile,
  type PageFrontMatter,
  type ParsedPage,
} from "./wiki/page-file.ts";
export { answerForModel, structuredForModel, structuredSchema } from "./tools/define-context-tool.ts";
export type { Chunk } from "./ingest/evidence/document-record.ts";
export type { ContextTool, ContextToolOutput, ToolCaller } from "./tools/context-tool.ts";
export { ContextSearch, type ContextQuery, type SyncReport } from "./search/context-search.ts";
export { SEARCH_KINDS, type SearchKind } from "./search/documents.ts";
export type { ProjectImport } from "./metrics/import-project.ts";
export { Metrics, type MetricQuestion } from "./metrics/metrics-service.ts";
export { MetricsReader } from "./metrics/metrics-reader.ts";
export { CatalogueReader } from "./tools/catalogue-reader.ts";
export type { TableOutline } from "./catalogue/table-outline.ts";
export { createContextTools } from "./tools/context-tools.ts";
export type { ContextWork } from "./tools/job-tools.ts";
export {
  checkoutSource,
  findJoins,
  ingest,
  openSource,
  planEvals,
  planIngest,
  planScan,
  runEvals,
  scan,
  scrubContext,
} from "./load-work.ts";
export type { SourceAccess } from "./ingest/sources/open-source.ts";
export type { ScrubReport } from "./scrub/scrub-context.ts";
export type { ScanPlan } from "./scan/plan-scan.ts";
export type { ScanInput } from "./scan/scan.ts";
export type { ScanContext, ScanResult } from "./scan/scan-result.ts";
export type { PrivacyReport } from "./privacy/restrict-tables.ts";
export type { ScannedTable } from "./scan/scanned-table.ts";
export { BOX } from "./tools/layout-graph.ts";
export { tableGraph, type GraphEdge, type GraphNode, type TableGraph } from "./tools/table-graph.ts";
export { awaitCancelled, cancelJob, endCancelled } from "./runs/cancel-job.ts";
export { jobKind, type JobKind } from "./runs/job-kind.ts";
export { JobRunner, type JobRunnerOptions } from "./runs/job-runner.ts";
export { described } from "./search/documents.ts";
export { foundPath } from "./tools/join-tool.ts";
export { judgeQuery, refuseUnsound } from "./verdict/judge-query.ts";
export { queryAnswer } from "./tools/sql-tool.ts";
export { tableDescription } from "./tools/table-tool.ts";
export { foundValues } from "./tools/value-tool.ts";
export type { IngestInput } from "./ingest/ingest.ts";
export type { IngestPlan } from "./ingest/ingest-plan.ts";
export type { IngestReport } from "./ingest/ingest-report.ts";
export type { Source } from "./ingest/sources/source.ts";
export { compareRuns } from "./evals/compare-runs.ts";
export { evalParams, type EvalParams } from "./evals/eval-params.ts";
export { listEvals, type LoadedEvals, loadEvals } from "./evals/load-evals.ts";
export type { CreateTools } from "./evals/open-eval-context.ts";
export { textSource } from "./ingest/sources/text-source.ts";
