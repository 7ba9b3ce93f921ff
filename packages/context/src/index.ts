export { describeEvidence, evidence } from "./evidence.ts";
export { openContext, type Context } from "./open-context.ts";
export { openContextFolder } from "./folder/open-context-folder.ts";
export { describeProblem } from "./formats/file-problem.ts";
export { updateTableFile } from "./catalogue/update-table-file.ts";
export { tableKey } from "./catalogue/table-path.ts";
export {
  ASPECTS,
  proposal,
  PROPOSAL_STATES,
  proposalSummary,
  type Change,
  type Decision,
  type Hunk,
  type Proposal,
  type ProposalSummary,
} from "./proposals/proposal.ts";
export { hunkFilter, type HunkFilter } from "./proposals/hunk-filter.ts";
export { hunkGroup, type HunkGroup } from "./proposals/hunk-groups.ts";
export type { Draft } from "./draft.ts";
export type { ProposalPage } from "./proposals/proposals.ts";
export type { Budget, LlmSource } from "./runs/metered-llm.ts";
export { runEvent, type Run, type RunEvent } from "./runs/job-run.ts";
export { holdsFor, isExpired, MEMORY_SCOPES, type MemoryFile, type MemoryScope } from "./formats/memory-file.ts";
export { contradictionsOf, Memories, type StoredMemory } from "./memory/memories.ts";
export { findMemory, forget, keep, remember } from "./memory/remember.ts";
export { captureIsOff, memoryKind, rememberKind } from "./memory/memory-kind.ts";
export { MemoryCapture } from "./memory/memory-capture.ts";
export { MemoryStores } from "./memory/memory-stores.ts";
export { isPageKey, pageKeyOf, pagePath, parsePage, renderPage } from "./wiki/page-file.ts";
export type { Chunk } from "./ingest/evidence/document-record.ts";
export {
  answerForModel,
  structuredForModel,
  structuredSchema,
  type ContextTool,
  type ToolCaller,
} from "./context-tool.ts";
export { ContextSearch } from "./search/context-search.ts";
export { SEARCH_KINDS, type SearchKind } from "./search/documents.ts";
export type { ProjectImport } from "./metrics/import-project.ts";
export { Metrics } from "./metrics/metrics-service.ts";
export { MetricsReader } from "./metric-definitions/metrics-reader.ts";
export { CatalogueReader } from "./catalogue/catalogue-reader.ts";
export type { TableOutline } from "./catalogue/table-outline.ts";
export { createContextTools } from "./tools/context-tools.ts";
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
export type { SourceAccess } from "./sources/open-source.ts";
export type { ScrubReport } from "./scrub/scrub-context.ts";
export type { ScanPlan } from "./scan/plan-scan.ts";
export { searchAnswer } from "./tools/search-tool.ts";
export { BOX } from "./tools/layout-graph.ts";
export { tableGraph, type TableGraph } from "./tools/table-graph.ts";
export { awaitCancelled, cancelJob, endCancelled } from "./runs/cancel-job.ts";
export { jobKind, type JobKind } from "./runs/job-kind.ts";
export { JobRunner } from "./runs/job-runner.ts";
export { described } from "./search/documents.ts";
export { foundPath } from "./tools/join-tool.ts";
export { auditStatement, runStatement, type Statement, type StatementAnswer } from "./verdict/run-statement.ts";
export { queryAnswer } from "./tools/sql-tool.ts";
export { tableDescription } from "./tools/table-tool.ts";
export { foundValues } from "./values/find-values.ts";
export type { IngestPlan } from "./ingest/ingest-plan.ts";
export type { Source } from "./sources/source.ts";
export { compareRuns } from "./evals/compare-runs.ts";
export { evalParams, type EvalParams } from "./evals/eval-params.ts";
export { listEvals, type LoadedEvals, loadEvals } from "./evals/load-evals.ts";
export type { CreateTools } from "./evals/open-eval-context.ts";
export { textSource } from "./sources/text-source.ts";
