import { inParallel, type LlmErrorCode, TandemError } from "@tandem/protocol";
import type { Tool } from "@tandem/runtime";
import { z } from "zod";
import { describeProblem } from "../../formats/file-problem.ts";
import { type Candidate } from "../extract/candidate.ts";
import { candidateId, keepCandidates } from "../extract/candidates.ts";
import { checkPages, checkText, type Knowledge, type PageView } from "../gates/check-pages.ts";
import { repairFile } from "../repair/repair-file.ts";
import type { TriagedPage } from "../triage/triage-pages.ts";
import { AgentFailed } from "../workbench/agent-loops.ts";
import { describeCall, failedCall, type FailedCall } from "../workbench/failed-calls.ts";
import { asLoopTool } from "../workbench/as-loop-tool.ts";
import { evidenceTools, sourceTool } from "../workbench/evidence-tools.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import { type MetricDraft, metricDraft, metricTool } from "../workbench/metric-tool.ts";
import { pageChange, type PageChange } from "../workbench/pages.ts";
import { SKILLS, type SkillName, skillTool } from "../workbench/skill-tool.ts";
import { Verification, verification } from "../workbench/verification.ts";
import { wikiReadTools, wikiWriteTools } from "../workbench/wiki-tools.ts";
import { Workbench } from "../workbench/workbench.ts";
import { candidateTool, writtenCandidate, type WrittenCandidate } from "./candidate-tool.ts";
import { planUnits, splitUnit, type UnitPlan } from "./plan-units.ts";
import { UNIT_PROMPT, UNIT_SYSTEM, unitPrompt } from "./unit-prompt.ts";

const STAGE = "units";

const unitResult = z.strictObject({
  outcome: z.enum(["done", "budget"]),
  changes: z.array(pageChange),
  candidates: z.array(writtenCandidate),
  /** Results that an earlier version stored have none. */
  metrics: z.array(metricDraft).default([]),
  verification: verification.nullable(),
  said: z.string(),
  /** Results that an earlier version stored have none. */
  failedCalls: z.array(failedCall).default([]),
});
type UnitResult = z.output<typeof unitResult>;

interface DoneUnit {
  unit: UnitPlan;
  /** `partly`: its work is kept, and some of its tool calls failed. */
  outcome: "done" | "budget" | "partly";
  failedCalls: FailedCall[];
  changes: PageChange[];
  candidates: Candidate[];
  metrics: MetricDraft[];
}

export interface UnitsDone {
  units: DoneUnit[];
  /** Already listed as skipped. The next run retries their documents. */
  failed: { unit: UnitPlan; error: TandemError }[];
}

/** Errors that another set of documents may not cause. */
const ABOUT_ITS_CONTENT: ReadonlySet<string> = new Set<LlmErrorCode>([
  "refused",
  "empty_answer",
  "max_tokens",
  "prompt_too_long",
  "invalid_request",
]);

/**
 * Lets one agent per unit read documents closely. A failing unit affects no other; if its content is the reason, each
 * half is tried by itself, so that one refused document does not take the others with it.
 */
export async function workUnits(
  line: IngestLine,
  pages: readonly TriagedPage[],
  knowledge: Knowledge,
): Promise<UnitsDone> {
  const { run, agents, prefix, config } = line;
  const planned = planUnits(pages.map(({ document }) => document));
  if (planned.length === 0) return { units: [], failed: [] };
  run.emit({ type: "stage_started", stage: STAGE, total: planned.length });
  const done = new Map<UnitPlan, UnitResult>();
  const failed = new Map<UnitPlan, TandemError>();
  const work = async (unit: UnitPlan): Promise<void> => {
    const name = `${prefix}${unit.name}`;
    run.emit({
      type: "unit_started",
      unit: name,
      items: unit.documents.map(({ source, path }) => `${source}/${path}`),
    });
    try {
      const result = await workUnit(line, unit, knowledge);
      done.set(unit, result);
      const { failedCalls, said } = result;
      const message = failedCalls.length > 0 ? failedCalls.map(describeCall).join("\n") : said || null;
      run.emit({ type: "unit_finished", unit: name, outcome: outcomeOf(result), message });
    } catch (error) {
      const why = error instanceof AgentFailed ? error.error : error;
      if (!(why instanceof TandemError) || run.signal.aborted) throw error;
      run.emit({ type: "unit_finished", unit: name, outcome: "failed", message: why.message });
      if (unit.documents.length > 1 && why !== agents.stopped && ABOUT_ITS_CONTENT.has(why.code)) {
        for (const half of splitUnit(unit)) await work(half);
        return;
      }
      failed.set(unit, why);
    }
  };
  let ended = 0;
  await inParallel(planned, config.workUnits.concurrency, async (unit) => {
    await work(unit);
    ended += 1;
    const item = `${prefix}${unit.name}`;
    run.emit({ type: "stage_progress", stage: STAGE, done: ended, total: planned.length, item });
  });
  const first = ({ documents }: UnitPlan) => documents[0]!.citation;
  const units = [...done.keys()].toSorted((a, b) => (first(a) < first(b) ? -1 : 1));
  listFailed(line, failed, agents.stopped);
  for (const unit of units) {
    for (const call of done.get(unit)!.failedCalls) {
      run.skip(STAGE, `${prefix}${unit.name}`, new TandemError("tool_failed", describeCall(call)));
    }
  }
  const kept: DoneUnit[] = [];
  for (const unit of units) {
    const result = done.get(unit)!;
    const candidates = await keepWritten(line, unit, pages, result.candidates);
    kept.push({ unit, ...result, outcome: outcomeOf(result), candidates });
  }
  const counts = {
    units: kept.length,
    "at their budget": kept.filter(({ outcome }) => outcome === "budget").length,
    partly: kept.filter(({ outcome }) => outcome === "partly").length,
    failed: failed.size,
    pages: new Set(kept.flatMap(({ changes }) => changes.map(({ path }) => path))).size,
    candidates: kept.reduce((sum, { candidates }) => sum + candidates.length, 0),
  };
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return { units: kept, failed: [...failed].map(([unit, error]) => ({ unit, error })) };
}

const outcomeOf = ({ outcome, failedCalls }: UnitResult): DoneUnit["outcome"] =>
  failedCalls.length > 0 ? "partly" : outcome;

/** Units that were not started are listed once. */
function listFailed(
  { run, prefix }: IngestLine,
  failed: ReadonlyMap<UnitPlan, TandemError>,
  stopped: TandemError | undefined,
): void {
  const left = [...failed].filter(([, error]) => error === stopped);
  for (const [unit, error] of failed) if (error !== stopped) run.skip(STAGE, `${prefix}${unit.name}`, error);
  const [first] = left;
  if (!first) return;
  const documents = left.reduce((sum, [unit]) => sum + unit.documents.length, 0);
  run.skip(STAGE, left.length === 1 ? `${prefix}${first[0].name}` : `${documents} documents`, first[1]);
}

/**
 * The result depends on the documents, the prompt and the model, not on the current wiki: accepting a page must not
 * invalidate everything. Changes are merged into the current wiki.
 */
function workUnit(line: IngestLine, unit: UnitPlan, knowledge: Knowledge): Promise<UnitResult> {
  const { run, config, prefix } = line;
  const inputs = {
    prompt: UNIT_PROMPT,
    model: run.modelOf("candidateExtraction"),
    budget: config.workUnits.stepBudget,
    line: prefix,
    documents: unit.documents.map(({ citation, sha256, form }) => ({ citation, sha256, form })),
  };
  return run.step("unit", inputs, unitResult, async () => {
    await using bench = await Workbench.open(line.folder, `unit-${unit.documents[0]!.citation}`);
    const candidates = new Map<string, WrittenCandidate>();
    const metrics = new Map<string, MetricDraft>();
    const ledger = new Verification();
    const skills = skillsFor(unit, line.metricGate !== undefined);
    const { outcome, said, failedCalls } = await line.agents.work({
      role: "candidateExtraction",
      unit: `${prefix}${unit.name}`,
      system: UNIT_SYSTEM,
      prompt: await unitPrompt(line, bench, unit.documents, skills),
      tools: unitTools(line, unit, { bench, candidates, metrics, ledger, skills }),
      stepBudget: config.workUnits.stepBudget,
    });
    await passGates(line, unit, bench, knowledge);
    return {
      outcome,
      changes: await bench.changes(),
      candidates: [...candidates.values()],
      metrics: [...metrics.values()],
      verification: ledger.record,
      said,
      failedCalls,
    };
  });
}

interface UnitState {
  bench: Workbench;
  candidates: Map<string, WrittenCandidate>;
  metrics: Map<string, MetricDraft>;
  ledger: Verification;
  skills: readonly SkillName[];
}

function unitTools(line: IngestLine, unit: UnitPlan, state: UnitState): Tool[] {
  const { bench, candidates, metrics, ledger, skills } = state;
  const { evidenceStore, catalogue, databaseTools, metricGate: gate, folder, run } = line;
  const { refusal } = ledger;
  return [
    ...wikiReadTools({ bench }),
    ...wikiWriteTools({ bench, evidenceStore, hasTable: catalogue.has, refusal: ledger.refusal }),
    sourceTool(evidenceStore, unit.documents),
    ...evidenceTools(evidenceStore),
    ...databaseTools.map((tool) => asLoopTool(tool)),
    candidateTool(evidenceStore, unit.documents, candidates, ledger.refusal),
    ...(gate ? [metricTool({ gate, folder, evidenceStore, drafts: metrics, refusal, signal: run.signal })] : []),
    ledger.tool,
    skillTool(skills),
  ];
}

/** Skills for the kinds of documents. */
function skillsFor({ documents }: UnitPlan, hasMetrics: boolean): SkillName[] {
  const types = new Set<string>(documents.map(({ type }) => type));
  const names = Object.keys(SKILLS) as SkillName[];
  return names.filter((name) =>
    name === "metrics"
      ? hasMetrics
      : name === "dbt"
        ? types.has("dbt")
        : name === "sql-history"
          ? types.has("sql") || types.has("dbt")
          : true,
  );
}

/** Checks the agent's changes and lets them be fixed; otherwise the unit fails. */
async function passGates(line: IngestLine, unit: UnitPlan, bench: Workbench, knowledge: Knowledge): Promise<void> {
  const changes = await bench.changes();
  const view = await viewOf(bench);
  const problems = await checkPages(
    view,
    changes.map(({ path }) => path),
    knowledge,
  );
  for (const [path, found] of problems) {
    const task = found.map(describeProblem).join("\n");
    const problemsOf = (text: string) => checkText(view, path, text, knowledge);
    const text = await repairFile(line, { path, text: view.read(path), task, problemsOf });
    if (text === undefined) {
      throw new TandemError(
        "gate_failed",
        `${path}, written from ${unit.name}, did not pass its checks: ${describeProblem(found[0]!)}`,
      );
    }
    await bench.write(path, text, []);
  }
}

async function viewOf(bench: Workbench): Promise<PageView> {
  const texts = new Map<string, string>();
  for (const path of await bench.paths()) texts.set(path, (await bench.read(path)) ?? "");
  return {
    paths: [...texts.keys()],
    read: (path) => texts.get(path) ?? null,
    before: (path) => bench.before(path) ?? null,
  };
}

/**
 * Stores them as candidates of their documents, beside those of light extraction; undecided ones of other versions are
 * superseded.
 */
async function keepWritten(
  { run, store }: IngestLine,
  { documents }: UnitPlan,
  pages: readonly TriagedPage[],
  written: readonly WrittenCandidate[],
): Promise<Candidate[]> {
  const createdAt = new Date().toISOString();
  const kept: Candidate[] = [];
  for (const document of documents) {
    const { citation, source, path, sha256 } = document;
    const suspicious = pages.find((page) => page.document === document)?.suspicious ?? null;
    const own = written
      .filter((each) => each.document === citation)
      .map((each): Candidate => ({
        ...each,
        id: candidateId({ document: citation, sha256, key: each.key }),
        source,
        path,
        sha256,
        suspicious,
        state: "open",
        note: null,
        job: run.job,
        createdAt,
      }));
    kept.push(...(await keepCandidates(store, document, own)));
  }
  return kept;
}
