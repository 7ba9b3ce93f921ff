import type { Evidence } from "../../evidence.ts";
import type { Draft } from "../../draft.ts";
import { asEvidence, type EvidenceStore } from "../workbench/evidence-store.ts";
import type { MetricDraft } from "../workbench/metric-tool.ts";

/** A changed metrics file; all its lines rest on the passages that the agent cited. */
export async function draftMetrics(
  { path, before, after, citations }: MetricDraft,
  evidenceStore: EvidenceStore,
  judge: Evidence,
): Promise<Draft> {
  const evidence = [...(await evidenceStore.read(citations)).map(asEvidence), judge];
  const whole = [{ from: 1, to: Infinity, aspect: "metric" as const, evidence }];
  return { path, before, after, support: whole, removal: whole };
}
