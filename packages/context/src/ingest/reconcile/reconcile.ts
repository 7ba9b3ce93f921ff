import { z } from "zod";
import type { TandemError } from "@tandem/protocol";
import { hashOf } from "../../hash-of.ts";
import type { Decision } from "../../proposals/proposal.ts";
import type { Candidate } from "../extract/candidate.ts";
import { AgentFailed } from "../workbench/agent-loops.ts";
import { asLoopTool } from "../workbench/as-loop-tool.ts";
import { asEvidence } from "../workbench/evidence-store.ts";
import { evidenceTools } from "../workbench/evidence-tools.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import { type Conflict, pageChange, type Pages } from "../workbench/pages.ts";
import { skillTool } from "../workbench/skill-tool.ts";
import { wikiReadTools, wikiWriteTools } from "../workbench/wiki-tools.ts";
import { Workbench } from "../workbench/workbench.ts";
import { RECONCILE_PROMPT, RECONCILE_SYSTEM, reconcilePrompt } from "./reconcile-prompt.ts";
import { contradiction, evictionVerdict, mergeVerdict, reconcileTools, Ruling } from "./reconcile-tools.ts";
import { type Gone, restingPages } from "./resting-pages.ts";

const STAGE = "reconcile";

const reconcileResult = z.strictObject({
  outcome: z.enum(["done", "budget"]),
  changes: z.array(pageChange),
  contradictions: z.array(contradiction),
  evictions: z.array(evictionVerdict),
  merges: z.array(mergeVerdict),
});
type ReconcileResult = z.output<typeof reconcileResult>;

export interface Reconciled {
  decisions: Decision[];
  conflicts: Conflict[];
  counts: { contradictions: number; evicted: number; kept: number; merges: number };
  /** On failure nothing was settled; deleted documents stay on the next run's list. */
  failed: TandemError | undefined;
}

/**
 * Reviews all changes of a run together, and content that rests on deleted passages. Contradictions and undecided
 * content become questions for a person.
 */
export async function reconcile(
  line: IngestLine,
  pages: Pages,
  { gone, disputed }: { gone: Gone; disputed: readonly Candidate[] },
): Promise<Reconciled> {
  const { run, prefix } = line;
  const counts = { contradictions: 0, evicted: 0, kept: 0, merges: 0 };
  const nothing: Reconciled = { decisions: [], conflicts: [], counts, failed: undefined };
  const evictions = restingPages(pages, gone);
  if (pages.changes.length === 0 && evictions.length === 0) return nothing;
  run.emit({ type: "stage_started", stage: STAGE, total: null });
  let result: ReconcileResult;
  try {
    result = await ask(line, pages, evictions, disputed);
  } catch (error) {
    if (!(error instanceof AgentFailed)) throw error;
    run.skip(STAGE, `${prefix}${pages.changes.length + evictions.length} changes`, error.error);
    run.emit({ type: "stage_finished", stage: STAGE, counts: { failed: 1 } });
    return { ...nothing, failed: error.error };
  }
  const conflicts = pages.merge(result.changes, `${prefix}reconciliation`);
  const decisions = await Promise.all(
    result.contradictions.map(async ({ about, question, sides }): Promise<Decision> => ({
      id: "",
      kind: "contradiction",
      about,
      question,
      answer: null,
      sides: await Promise.all(
        sides.map(async ({ claim, citations }) => ({
          claim,
          evidence: (await line.evidenceStore.read(citations)).map(asEvidence),
        })),
      ),
    })),
  );
  const rulings = new Map(result.evictions.map((each) => [each.artifact, each]));
  for (const { artifact, citations } of evictions) {
    const ruling = rulings.get(artifact);
    if (ruling?.decision === "remove") {
      counts.evicted += 1;
      continue;
    }
    counts.kept += 1;
    const why = ruling ? `It is kept, because: ${ruling.reason}` : "It is kept, because it has no decision yet.";
    decisions.push({
      id: "",
      kind: "eviction",
      about: artifact,
      answer: null,
      question: `${artifact} rests on what its sources do not say any more. ${why} Should it stay?`,
      sides: [{ claim: "Its former evidence", evidence: (await line.evidenceStore.read(citations)).map(asEvidence) }],
    });
  }
  counts.contradictions = result.contradictions.length;
  counts.merges = result.merges.length;
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return { decisions, conflicts, counts, failed: undefined };
}

function ask(
  line: IngestLine,
  pages: Pages,
  evictions: ReturnType<typeof restingPages>,
  disputed: readonly Candidate[],
): Promise<ReconcileResult> {
  const { run, config, prefix, evidenceStore, catalogue, databaseTools, folder, agents } = line;
  const inputs = {
    prompt: RECONCILE_PROMPT,
    model: run.modelOf("reconcile"),
    budget: config.reconcile.stepBudget,
    line: prefix,
    changes: hashOf(pages.changes.map(({ path, after }) => ({ path, after }))),
    evictions,
    disputed: disputed.map(({ id }) => id),
  };
  return run.step(STAGE, inputs, reconcileResult, async () => {
    await using bench = await Workbench.open(folder, "reconcile", pages);
    const ruling = new Ruling();
    const unit = `${prefix}reconciliation`;
    run.emit({ type: "unit_started", unit, items: pages.changes.map(({ path }) => path) });
    const { outcome, said } = await agents.work({
      role: "reconcile",
      unit,
      system: RECONCILE_SYSTEM,
      prompt: reconcilePrompt(pages, evictions, disputed),
      tools: [
        ...reconcileTools({ pages, bench, evidenceStore, evictions, ruling }),
        ...wikiReadTools({ bench }),
        ...wikiWriteTools({ bench, evidenceStore, hasTable: catalogue.has }),
        ...evidenceTools(evidenceStore),
        ...databaseTools.filter(({ name }) => name !== "sql_query").map((tool) => asLoopTool(tool)),
        skillTool(["handling-conflicts", "writing-pages"]),
      ],
      stepBudget: config.reconcile.stepBudget,
    });
    run.emit({ type: "unit_finished", unit, outcome, message: said || null });
    const { contradictions, merges } = ruling;
    return {
      outcome,
      changes: await bench.changes(),
      contradictions,
      evictions: [...ruling.evictions.values()],
      merges,
    };
  });
}
