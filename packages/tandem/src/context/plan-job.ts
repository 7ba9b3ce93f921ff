import type { Connection, DatabaseLocation } from "@tandem/connectors";
import type {
  Context as Knowledge,
  CreateTools,
  EvalParams,
  IngestPlan,
  planScan as estimateScan,
  ScanPlan,
  Source,
  SourceAccess,
} from "@tandem/context";
import { costOf, type JobPlan, type LlmConfig } from "@tandem/protocol";
import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { ingestSources } from "./ingest-sources.ts";
import type { IngestParams, ScanParams } from "./job-kinds.ts";

/** Skipped documents that a plan names. */
const MAX_SKIPPED = 20;

interface PlanParts {
  project: Project;
  store: Store;
  knowledge: Knowledge;
  modelOf: (role: string) => string;
  connect: (name: string) => Promise<Connection>;
  access: SourceAccess;
  signal: AbortSignal;
}

export type PricedPlan = ScanPlan & { usd: number | null };
type ScanInput = Omit<Parameters<typeof estimateScan>[0], "hasModel">;

/** Estimates a scan. Reads the structure of the database, but no rows. */
export async function planScan({ config: { llm } }: Project, input: ScanInput): Promise<PricedPlan> {
  const library = await loadContext();
  const plan = await library.planScan({ ...input, hasModel: llm.provider.backend !== "none" });
  return { ...plan, usd: await priceScan(plan, llm) };
}

export async function planScanJob(
  { project, knowledge: { folder }, connect, signal }: PlanParts,
  { connection: connectionName, descriptions }: ScanParams,
): Promise<JobPlan> {
  const { scan, llm } = project.config;
  await using connection = await connect(connectionName);
  const config = { ...scan, descriptions };
  const plan = await planScan(project, { folder, connectionName, connection, config, signal });
  const { tables, views, rows, queries, usd } = plan;
  return {
    requests: plan.requests.descriptions + plan.requests.joins,
    usd,
    has_model: llm.provider.backend !== "none",
    reads: { tables, views, ...(rows !== null && { rows }), queries, "tables to describe": plan.toDescribe },
    skipped: [],
  };
}

/** Estimates an ingest. Reads the documents, but stores nothing. */
export async function planIngest(
  { config: { ingest } }: Project,
  { records, blobs, search }: Store,
  sources: readonly Source[],
  { space, ...run }: { space: string } & Pick<PlanParts, "modelOf" | "signal">,
): Promise<IngestPlan> {
  const library = await loadContext();
  return library.planIngest({ records, blobs, search, space }, sources, { ingest, ...run });
}

export async function planIngestJob(
  { project, store, knowledge: { id: space }, modelOf, access, signal }: PlanParts,
  { sources: names }: IngestParams,
): Promise<JobPlan> {
  const { sources } = await ingestSources(project, { names }, access);
  const plan = await planIngest(project, store, sources, { space, modelOf, signal });
  const { documents, characters, requests, usd, skipped } = plan;
  const hasModel = project.config.llm.provider.backend !== "none";
  return {
    requests: hasModel ? requests.reduce((sum, each) => sum + each.requests, 0) : 0,
    usd: hasModel ? usd : 0,
    has_model: hasModel,
    reads: { "new or changed documents": documents, characters },
    skipped: skipped.slice(0, MAX_SKIPPED).map(({ item, message }) => ({ item, message })),
  };
}

interface EvalPlanParts extends PlanParts {
  embedder: Embedder | undefined;
  createTools: CreateTools;
  locate: (name: string) => Promise<DatabaseLocation>;
}

/** Estimates a run of evals. Runs the gold statements and looks for recordings, but asks no model. */
export async function planEvalsJob(
  { project, knowledge, modelOf, signal, ...parts }: EvalPlanParts,
  params: EvalParams,
): Promise<JobPlan> {
  const library = await loadContext();
  const hasModel = project.config.llm.provider.backend !== "none";
  const { requests, usd, questions, trials, recorded } = await library.planEvals(
    { signal, modelOf, emit: () => {} },
    { ...parts, context: knowledge, params: { ...params, ask: params.ask && hasModel }, limit: undefined },
  );
  return { requests, usd, has_model: hasModel, reads: { questions, trials, recorded }, skipped: [] };
}

/** An estimate at list price. A login, a contract or a cloud may charge differently. */
async function priceScan({ usage, requests }: ScanPlan, { provider, models }: LlmConfig): Promise<number | null> {
  if (requests.descriptions + requests.joins === 0) return 0;
  const { resolveModel } = await import("@tandem/runtime");
  const model = models.candidateExtraction ?? models.default;
  // Claude Code resolves aliases like Anthropic's API.
  const id = resolveModel(provider.backend === "claude-code" ? "anthropic" : provider.backend, model);
  return costOf(id, usage)?.usd ?? null;
}
