import { type Config, type IngestReport, TandemError } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Decision } from "../proposals/proposal.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { Run } from "../runs/job-run.ts";
import type { Budget } from "../runs/metered-llm.ts";
import { requireWithinLimit } from "../runs/spending-limit.ts";
import { syncSearch } from "../runs/sync-search.ts";
import type { Embedder } from "@tandem/runtime";
import type { ContextTool } from "../context-tool.ts";
import { draftDbt } from "./catalogue/draft-dbt.ts";
import { curate, LEFT_OVER } from "./curate/curate.ts";
import { estimateIngest, totalOf } from "./estimate-ingest.ts";
import type { DocumentRecord } from "./evidence/document-record.ts";
import { keepEvidence, keepSuspicions } from "./evidence/keep-evidence.ts";
import type { Candidate } from "./extract/candidate.ts";
import { listCandidates } from "./extract/candidates.ts";
import { extractCandidates } from "./extract/extract-candidates.ts";
import { passGates } from "./gates/pass-gates.ts";
import { addCounts, emptyReport } from "./ingest-report.ts";
import { proposeLine } from "./propose/propose-line.ts";
import { settleLine } from "./propose/settle-line.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { resolveConflict } from "./repair/resolve-conflict.ts";
import type { ContextStore } from "../sources/context-store.ts";
import { countsOf, type SourceDiff } from "../sources/diff-source.ts";
import { readProvenance } from "../sources/provenance.ts";
import type { Source } from "../sources/source.ts";
import { stageSources } from "../sources/stage-sources.ts";
import { type TriagedPage, triagePages } from "./triage/triage-pages.ts";
import { workUnits } from "./units/work-units.ts";
import { Agents } from "./workbench/agent-loops.ts";
import { EvidenceStore } from "./workbench/evidence-store.ts";
import { Catalogue, type IngestLine } from "./workbench/ingest-line.ts";
import type { MetricDraft, MetricGate } from "./workbench/metric-tool.ts";
import { type Conflict, Pages } from "./workbench/pages.ts";

export interface IngestInput {
  context: { folder: ContextFolder; proposals: Proposals; search?: { sync(): Promise<unknown> } };
  /** Its space is the context's id. */
  store: ContextStore;
  config: Config["ingest"];
  sources: readonly Source[];
  /** Context tools; agents get those for tables and databases. */
  tools?: readonly ContextTool[];
  /** Checks drafts of metrics; without it, none are made. */
  metrics?: MetricGate;
  embedder?: Embedder;
  /** The run is rejected before its first model request if it is expected to spend more. */
  limit?: Budget;
}

/** Topic of the note about open proposals that a run does not see. */
const WAITING = "open proposals";

/** Tools for ingest agents; they reach pages and passages by their own tools. */
const DATABASE_TOOLS: ReadonlySet<string> = new Set(["table_describe", "value_lookup", "sql_query"]);

/**
 * Reads sources and proposes wiki changes. Unchanged documents cost nothing; failures are listed, left unchanged and
 * retried by the next run. A killed run resumes, because every agent's work is a stored step.
 */
export async function ingest(run: Run, input: IngestInput): Promise<IngestReport> {
  const { store, sources } = input;
  const report = emptyReport();
  const diffs = await stageSources(run, store, sources);
  report.sources = diffs.map((diff) => ({ name: diff.source, ...countsOf(diff) }));
  const fresh = diffs.flatMap(({ added, changed }) => [...added, ...changed.map(({ item }) => item)]);
  const moved = diffs.flatMap(({ renamed }) => renamed.map(({ item }) => item));
  const documents = await keepEvidence(run, store, [...fresh, ...moved]);
  const wanted = new Set(fresh.map(({ citation }) => citation));
  const unread = documents.filter(({ citation }) => wanted.has(citation));
  if (run.llm) {
    const estimate = estimateIngest(unread, input.config, (role) => run.modelOf(role));
    requireWithinLimit("ingest", totalOf(estimate), input.limit);
  }
  const triage = await triagePages(run, unread);
  await keepSuspicions(store, triage.pages);
  for (const { lane } of triage.pages) report.documents[lane] += 1;
  addCounts(report.documents, { failed: triage.failed.length, left: triage.stopped?.pages ?? 0 });
  const extracted = await extractCandidates(
    run,
    store,
    triage.pages.filter(({ lane }) => lane === "light"),
  );

  const waiting = await input.context.proposals.waiting("wiki/", { exceptOf: run.job });
  if (waiting.size > 0) {
    run.emit({ type: "stage_finished", stage: WAITING, counts: { "pages that wait for a decision": waiting.size } });
  }
  const read = { diffs, documents, waiting, triaged: triage.pages, light: extracted.pages.map(({ page }) => page) };
  const agents = new Agents(run);
  for (const isSuspicious of [false, true]) await workLine(run, input, { ...read, agents, isSuspicious, report });
  if (report.proposals.some(({ accepted }) => accepted > 0)) await syncSearch(run, input.context.search, "the index");
  return report;
}

interface ReadSources {
  waiting: ReadonlyMap<string, string>;
  diffs: readonly SourceDiff[];
  documents: readonly DocumentRecord[];
  triaged: readonly TriagedPage[];
  /** Pages that passed light extraction. */
  light: readonly TriagedPage[];
  agents: Agents;
  /** Whether this line processes suspicious documents. */
  isSuspicious: boolean;
  report: IngestReport;
}

/** Processes one of the two kinds of documents, from read documents to a stored proposal. */
async function workLine(run: Run, input: IngestInput, read: ReadSources): Promise<void> {
  const { isSuspicious, report, diffs, triaged } = read;
  const line = await openLine(run, input, read);
  const isOurs = ({ suspicious }: { suspicious: string | null }) => (suspicious !== null) === isSuspicious;
  const mine = triaged.filter(isOurs);
  const knowledge = {
    hasTable: line.catalogue.has,
    citations: async (wanted: readonly string[]) =>
      new Set((await line.evidenceStore.read(wanted)).map(({ citation }) => citation)),
  };
  const units = await workUnits(
    line,
    mine.filter(({ lane }) => lane === "full"),
    knowledge,
  );
  const pages = await Pages.read(line.folder);
  const decisions: Decision[] = [];
  const settleConflicts = async (conflicts: readonly Conflict[]) => {
    for (const conflict of conflicts) {
      const decision = await resolveConflict(line, pages, conflict, knowledge);
      if (decision) decisions.push(decision);
    }
  };
  for (const { unit, changes } of units.units) await settleConflicts(pages.merge(changes, unit.name));

  const waiting = awaiting((await listCandidates(line.store, ["open", "deferred"])).filter(isOurs));
  const curated = await curate(line, pages, waiting);
  await settleConflicts(curated.conflicts);

  const lightly = new Set([...read.light, ...mine.filter(({ lane }) => lane === "skip")]);
  const closely = new Set(units.units.flatMap(({ unit }) => unit.documents));
  const through = mine.filter((page) => lightly.has(page) || closely.has(page.document));
  const deleted = isSuspicious ? [] : diffs.flatMap((diff) => diff.deleted);
  const gone = {
    deleted: new Set(deleted.map(({ citation }) => citation)),
    // Failed documents are unknown; the next run decides about them.
    changed: new Map(through.map(({ document: { citation, chunks } }) => [citation, new Set(chunks)])),
  };
  const disputed = waiting.filter(({ action, job }) => action === "conflict" && job === run.job);
  const reconciled = await reconcile(line, pages, { gone, disputed });
  await settleConflicts(reconciled.conflicts);
  decisions.push(...reconciled.decisions);
  const gates = await passGates(line, pages, knowledge);

  const ours = new Set(mine.map(({ document }) => document.citation));
  const judged = new Set(triaged.map(({ document }) => document.citation));
  const tables = await draftDbt(
    line,
    // Without a model nothing is triaged; the rest is still done.
    read.documents.filter((each) => (judged.has(each.citation) ? ours.has(each.citation) : isOurs(each))),
  );
  const metrics = metricDrafts(line, units);
  count(report, { units, curated, reconciled, gates, pages, tables: tables.length, metrics: metrics.length });
  const reasons = [...new Set([...mine, ...waiting].flatMap(({ suspicious }) => suspicious ?? []))];
  const proposed = await proposeLine(line, input.context.proposals, {
    title: `Ingest of ${diffs.map(({ source }) => source).join(", ")}`,
    summary: summaryOf(
      pages,
      { tables: tables.length, metrics: metrics.length },
      decisions.length,
      reconciled.failed?.message,
    ),
    pages,
    tables,
    metrics,
    decisions,
    quarantine: isSuspicious ? `Its documents may be trying to instruct a model: ${reasons.join("; ")}.` : null,
  });
  if (proposed) report.proposals.push(proposed);

  await settleLine(line, {
    pages: through,
    before: new Map((await readProvenance(line.store)).map((entry) => [entry.citation, entry])),
    renamed: isSuspicious ? [] : diffs.flatMap(({ renamed }) => renamed),
    deleted: reconciled.failed ? [] : deleted,
    verdicts: curated.verdicts,
    changed: pages,
    tables,
  });
}

async function openLine(run: Run, input: IngestInput, read: ReadSources): Promise<IngestLine> {
  const { context, store, config, tools = [], metrics, embedder } = input;
  const { agents, isSuspicious, triaged } = read;
  const suspicious = new Map(triaged.map((page) => [page.document.citation, page.suspicious !== null]));
  // The suspicious line may see everything; the normal one no suspicious document.
  const evidenceStore = new EvidenceStore(store, (document) => {
    if (isSuspicious) return true;
    const known = suspicious.get(document);
    return known === undefined ? undefined : !known;
  });
  const catalogue = await Catalogue.read(context.folder);
  const databaseTools = catalogue.names.length > 0 ? tools.filter(({ name }) => DATABASE_TOOLS.has(name)) : [];
  const prefix = isSuspicious ? "suspicious: " : "";
  return {
    run,
    agents,
    prefix,
    config,
    folder: context.folder,
    store,
    evidenceStore,
    catalogue,
    databaseTools,
    metricGate: databaseTools.length > 0 ? metrics : undefined,
    embedder,
    waiting: read.waiting,
  };
}

/** Deferred candidates wait for something new; those beyond a budget do not. */
function awaiting(candidates: readonly Candidate[]): Candidate[] {
  const isNew = ({ state, note }: Candidate) => state === "open" || note === LEFT_OVER;
  return candidates.some(isNew) ? [...candidates] : [];
}

function count(
  report: IngestReport,
  line: {
    units: Awaited<ReturnType<typeof workUnits>>;
    curated: Awaited<ReturnType<typeof curate>>;
    reconciled: Awaited<ReturnType<typeof reconcile>>;
    gates: IngestReport["gates"];
    pages: Pages;
    tables: number;
    metrics: number;
  },
): void {
  const { units, curated, reconciled, gates, pages, tables, metrics } = line;
  for (const { unit, outcome, failedCalls } of units.units) {
    if (outcome === "partly") report.units.partly.push({ unit: unit.name, calls: failedCalls });
    else report.units[outcome] += 1;
  }
  report.units.failed.push(...units.failed.map(({ unit, error }) => ({ unit: unit.name, message: error.message })));
  addCounts(report.candidates, curated.counts);
  addCounts(report.reconciled, reconciled.counts);
  report.reconciled.failed ??= reconciled.failed?.message ?? null;
  addCounts(report.gates, gates);
  addCounts(report.pages, changesOf(pages));
  report.tables += tables;
  report.metrics += metrics;
}

/** One draft per file. Units do not see each other's drafts, so that a second one could undo the first. */
function metricDrafts({ run, prefix }: IngestLine, { units }: Awaited<ReturnType<typeof workUnits>>): MetricDraft[] {
  const drafts = new Map<string, MetricDraft>();
  for (const draft of units.flatMap(({ metrics }) => metrics)) {
    const first = drafts.get(draft.path);
    if (!first) drafts.set(draft.path, draft);
    else if (first.after !== draft.after) {
      const message = `${draft.path} was drafted twice; only the first draft is proposed.`;
      run.skip("units", `${prefix}${draft.path}`, new TandemError("conflict", message));
    }
  }
  return [...drafts.values()];
}

const changesOf = ({ changes }: Pages): IngestReport["pages"] => ({
  added: changes.filter(({ before }) => before === null).length,
  changed: changes.filter(({ before, after }) => before !== null && after !== null).length,
  removed: changes.filter(({ after }) => after === null).length,
});

function summaryOf(
  pages: Pages,
  { tables, metrics }: { tables: number; metrics: number },
  decisions: number,
  failure: string | undefined,
): string {
  const { added, changed, removed } = changesOf(pages);
  const parts = [
    `${added} new pages, ${changed} changed, ${removed} removed`,
    ...(tables > 0 ? [`${tables} tables`] : []),
    ...(metrics > 0 ? [`${metrics} ${metrics === 1 ? "file" : "files"} of metrics`] : []),
    ...(decisions > 0 ? [`${decisions} ${decisions === 1 ? "question" : "questions"} to decide`] : []),
  ];
  const note = failure === undefined ? "" : ` The changes were not reconciled with each other: ${failure}`;
  return `${parts.join("; ")}.${note}`;
}
