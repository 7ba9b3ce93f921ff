import { z } from "zod";
import type { TandemError } from "@tandem/protocol";
import type { Candidate, CandidateState } from "../extract/candidate.ts";
import { AgentFailed } from "../workbench/agent-loops.ts";
import { asLoopTool } from "../workbench/as-loop-tool.ts";
import { evidenceTools } from "../workbench/evidence-tools.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import { type Conflict, pageChange, type Pages } from "../workbench/pages.ts";
import { type SkillName, SKILLS, skillTool } from "../workbench/skill-tool.ts";
import { wikiReadTools, wikiWriteTools } from "../workbench/wiki-tools.ts";
import { Workbench } from "../workbench/workbench.ts";
import { CURATE_PROMPT, CURATE_SYSTEM, curatePrompt, type PassBudget } from "./curate-prompt.ts";
import { type CandidateGroup, dedupeCandidates } from "./dedupe-candidates.ts";
import { mark, type Mark, markTool } from "./mark-tool.ts";

const STAGE = "curate";
const CURATOR_SKILLS: readonly SkillName[] = (Object.keys(SKILLS) as SkillName[]).filter(
  (name) => name === "writing-pages" || name === "definitions" || name === "handling-conflicts",
);

/** Note of candidates that a run's budget did not reach; the next run starts with them. */
export const LEFT_OVER = "The run's budget was used up before it was reviewed.";

const passResult = z.strictObject({
  outcome: z.enum(["done", "budget"]),
  changes: z.array(pageChange),
  marks: z.array(mark),
});
type PassResult = z.output<typeof passResult>;

export interface CandidateDecision {
  candidate: Candidate;
  state: CandidateState;
  note: string | null;
}

export interface Curated {
  /** To store once the decisions are safe. Other candidates stay undecided. */
  verdicts: CandidateDecision[];
  conflicts: Conflict[];
  passes: number;
  failed: TandemError[];
  counts: { candidates: number; groups: number; promoted: number; merged: number; rejected: number; deferred: number };
}

/**
 * Decides about candidates in batches, and writes accepted ones into `pages`. A failed pass leaves its candidates
 * unchanged, because an error is not a verdict. Candidates beyond the budget are carried over.
 */
export async function curate(line: IngestLine, pages: Pages, candidates: readonly Candidate[]): Promise<Curated> {
  const { run, agents, config, prefix, embedder } = line;
  const counts = { candidates: candidates.length, groups: 0, promoted: 0, merged: 0, rejected: 0, deferred: 0 };
  const curated: Curated = { verdicts: [], conflicts: [], passes: 0, failed: [], counts };
  if (candidates.length === 0) return curated;
  const groups = await dedupeCandidates(run, candidates, embedder);
  counts.groups = groups.length;
  const batches: CandidateGroup[][] = [];
  for (let from = 0; from < groups.length; from += config.curation.batch) {
    batches.push(groups.slice(from, from + config.curation.batch));
  }
  run.emit({ type: "stage_started", stage: STAGE, total: groups.length });
  const budget: PassBudget = { creates: config.curation.creates, updates: config.curation.updates };
  let looked = 0;
  for (const [index, batch] of batches.entries()) {
    const isOver = index >= config.curation.passes || (budget.creates <= 0 && budget.updates <= 0);
    if (isOver) {
      settle(curated, batch, new Map(), LEFT_OVER);
      continue;
    }
    if (agents.stopped) {
      curated.failed.push(agents.stopped);
      continue;
    }
    try {
      const result = await pass(line, pages, batch, index + 1, budget);
      curated.passes += 1;
      for (const { before } of result.changes) budget[before === null ? "creates" : "updates"] -= 1;
      curated.conflicts.push(...pages.merge(result.changes, `${prefix}curator`));
      const marks = new Map(result.marks.map((each) => [each.id, each]));
      settle(curated, batch, marks, result.outcome === "budget" ? LEFT_OVER : "The curator did not decide about it.");
    } catch (error) {
      if (!(error instanceof AgentFailed)) throw error;
      curated.failed.push(error.error);
    }
    looked += batch.length;
    run.emit({ type: "stage_progress", stage: STAGE, done: looked, total: groups.length, item: batch[0]!.lead.topic });
  }
  const [failure] = curated.failed;
  if (failure) {
    const left = candidates.length - curated.verdicts.length;
    run.skip(STAGE, `${prefix}${left} ${left === 1 ? "candidate" : "candidates"}`, failure);
  }
  run.emit({ type: "stage_finished", stage: STAGE, counts: { ...counts, passes: curated.passes } });
  return curated;
}

const STATES = { promote: "promoted", merge: "merged", reject: "rejected", defer: "deferred" } as const;

/** A verdict applies to the whole group: duplicates are merged with it. */
function settle(
  curated: Curated,
  batch: readonly CandidateGroup[],
  marks: ReadonlyMap<string, Mark>,
  unmarked: string,
): void {
  for (const { lead, others } of batch) {
    const given = marks.get(lead.id);
    const state = given ? STATES[given.verdict] : "deferred";
    const note = given ? [given.page && `page:${given.page}`, given.reason].filter(Boolean).join(": ") : unmarked;
    curated.verdicts.push({ candidate: lead, state, note });
    const follows = state === "promoted" ? "merged" : state;
    for (const candidate of others)
      curated.verdicts.push({ candidate, state: follows, note: given ? `As ${lead.id}: ${note}` : note });
    curated.counts[state] += 1;
  }
}

function pass(
  line: IngestLine,
  pages: Pages,
  batch: readonly CandidateGroup[],
  number: number,
  budget: Readonly<PassBudget>,
): Promise<PassResult> {
  const { run, config, prefix, evidenceStore, catalogue, databaseTools, folder, agents } = line;
  const inputs = {
    prompt: CURATE_PROMPT,
    model: run.modelOf("curator"),
    budget: config.curation.stepBudget,
    line: prefix,
    candidates: batch.map(({ lead }) => ({ id: lead.id, assertion: lead.assertion, citations: lead.citations })),
  };
  return run.step("curate", inputs, passResult, async () => {
    await using bench = await Workbench.open(folder, `curate-${number}`, pages);
    const marks = new Map<string, Mark>();
    const written = new Set<string>();
    const left = { ...budget };
    const unit = `${prefix}curation pass ${number}`;
    run.emit({ type: "unit_started", unit, items: batch.map(({ lead }) => lead.topic) });
    const promoted = pages.changes.filter(({ after }) => after !== null).map(({ path }) => path);
    const worked = await agents
      .work({
        role: "curator",
        unit,
        system: CURATE_SYSTEM,
        prompt: await curatePrompt(evidenceStore, batch, { pass: number, budget, promoted }),
        tools: [
          ...wikiReadTools({ bench }),
          ...wikiWriteTools({
            bench,
            evidenceStore,
            hasTable: catalogue.has,
            refusal: (write) => {
              if (written.has(write.key)) return undefined;
              const kind = "isNew" in write && write.isNew ? "creates" : "updates";
              if (left[kind] > 0) return undefined;
              return `The budget of this run for ${kind === "creates" ? "new pages" : "changed pages"} is used up; nothing was written. Mark the candidate with defer.`;
            },
            onWrite: (key, isNew) => {
              if (!written.has(key)) left[isNew ? "creates" : "updates"] -= 1;
              written.add(key);
            },
          }),
          ...evidenceTools(evidenceStore),
          ...databaseTools.filter(({ name }) => name !== "sql_query").map((tool) => asLoopTool(tool)),
          markTool(bench, batch, marks),
          skillTool(CURATOR_SKILLS),
        ],
        stepBudget: config.curation.stepBudget,
      })
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        run.emit({ type: "unit_finished", unit, outcome: "failed", message });
        throw error;
      });
    run.emit({ type: "unit_finished", unit, outcome: worked.outcome, message: worked.said || null });
    return { outcome: worked.outcome, changes: await bench.changes(), marks: [...marks.values()] };
  });
}
