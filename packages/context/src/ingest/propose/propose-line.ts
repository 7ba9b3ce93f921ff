import type { ProposedLine } from "@tandem/protocol";
import type { Evidence } from "../../evidence.ts";
import type { Decision, Proposal } from "../../proposals/proposal.ts";
import type { Proposals } from "../../proposals/proposals.ts";
import type { TableDraft } from "../catalogue/draft-dbt.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import type { MetricDraft } from "../workbench/metric-tool.ts";
import type { Pages } from "../workbench/pages.ts";
import { draftPage } from "./draft-pages.ts";
import type { Draft } from "../../draft.ts";
import { asEvidence, type EvidenceStore } from "../workbench/evidence-store.ts";

/** Creates one proposal from all results of a line. Undefined if there are none. */
export async function proposeLine(
  line: IngestLine,
  proposals: Proposals,
  made: {
    title: string;
    summary: string;
    pages: Pages;
    tables: readonly TableDraft[];
    metrics: readonly MetricDraft[];
    decisions: readonly Decision[];
    quarantine: string | null;
  },
): Promise<ProposedLine | undefined> {
  const { run, evidenceStore, prefix } = line;
  const { title, summary, pages, tables, metrics, decisions, quarantine } = made;
  const drafts = await Promise.all(
    pages.changes.map((change) => draftPage(change, evidenceStore, judgeOf(line, pages.by(change.path)))),
  );
  const proposal = await proposals.propose({
    job: run.job,
    title: `${prefix === "" ? "" : "Suspicious: "}${title}`,
    summary: [summary, ...overlaps(line, pages)].join(" "),
    drafts: [
      ...drafts,
      ...tables.map(({ path, before, after, support }) => ({ path, before, after, support })),
      ...(await Promise.all(metrics.map((draft) => draftMetrics(draft, evidenceStore, judgeOf(line, []))))),
    ],
    decisions: decisions.map((decision, index) => ({ ...decision, id: `d${index + 1}` })),
    ...(quarantine !== null && { quarantine }),
  });
  if (!proposal) return undefined;
  const told = { ...toldOf(proposal), quarantine };
  run.emit({ type: "proposed", proposal: told.id, accepted: told.accepted, open: told.open });
  return told;
}

/** Pages that are also in another open proposal: accepting one makes the other a conflict. */
function overlaps({ waiting }: IngestLine, pages: Pages): string[] {
  const shared = pages.changes.flatMap(({ path }) => {
    const other = waiting.get(path);
    return other === undefined ? [] : [`${path} (${other})`];
  });
  if (shared.length === 0) return [];
  const shown = shared.slice(0, OVERLAPS_SHOWN).join(", ");
  const more = shared.length > OVERLAPS_SHOWN ? ` and ${shared.length - OVERLAPS_SHOWN} more` : "";
  return [
    `Also changed by proposals that are still open, which this run did not see: ${shown}${more}. Decide about those first.`,
  ];
}

const OVERLAPS_SHOWN = 10;

/** The model judgement for a page: of the last agent that wrote it. */
function judgeOf({ run }: IngestLine, by: readonly string[]): Evidence {
  const last = by.at(-1) ?? "";
  const role = last.endsWith("reconciliation")
    ? "reconcile"
    : last.endsWith("curator")
      ? "curator"
      : last.endsWith("repair")
        ? "repair"
        : "candidateExtraction";
  return { type: "model", model: run.modelOf(role), role };
}

const toldOf = ({ id, title, counts, decisions }: Proposal) => ({
  id,
  title,
  accepted: counts.accepted,
  open: counts.open,
  decisions: decisions.filter(({ answer }) => answer === null).length,
});

/** A changed metrics file; all its lines rest on the passages that the agent cited. */
async function draftMetrics(
  { path, before, after, citations }: MetricDraft,
  evidenceStore: EvidenceStore,
  judge: Evidence,
): Promise<Draft> {
  const evidence = [...(await evidenceStore.read(citations)).map(asEvidence), judge];
  const whole = [{ from: 1, to: Infinity, aspect: "metric" as const, evidence }];
  return { path, before, after, support: whole, removal: whole };
}
