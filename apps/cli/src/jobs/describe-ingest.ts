import type { IngestPlan } from "@tandem/context";
import type { IngestReport } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";
import { describeJob, dollars, jobAsJson, priceText, type JobOutcome } from "./describe-job.ts";
import { describeCounts } from "./run-view.ts";

export const ingestAsJson = (outcome: JobOutcome<IngestReport>) => jobAsJson(outcome, outcome.result);

/** Renders the result as text. */
export const describeIngest = (invocation: Pick<Invocation, "stdout">, outcome: JobOutcome<IngestReport>): string[] =>
  describeJob(invocation, "ingest", outcome, {
    rows: outcome.result ? rowsOf(outcome.result) : [],
    none: "Nothing to propose.",
  });

function rowsOf(report: IngestReport): string[][] {
  const { sources, documents, units, candidates, reconciled, pages, tables, gates } = report;
  // Reports of 0.1.0 have none.
  const metrics = report.metrics ?? 0;
  const rows = sources.map(({ name, added, changed, renamed, deleted, unchanged }) => [
    name,
    describeCounts({ new: added, changed, moved: renamed, deleted, unchanged }, "empty"),
  ]);
  const { skip, light, full, failed, left } = documents;
  const lanes = { "skipped as irrelevant": skip, skimmed: light, "read in full": full, failed, "not processed": left };
  if (Object.values(lanes).some((count) => count > 0)) rows.push(["documents", describeCounts(lanes)]);
  // Reports of 0.1.0 have no `partly`.
  const partly = units.partly?.length ?? 0;
  if (units.done + units.budget + partly + units.failed.length > 0) {
    const counts = { done: units.done, "stopped at their budget": units.budget, partly, failed: units.failed.length };
    rows.push(["work units", describeCounts(counts)]);
  }
  if (candidates.candidates > 0) {
    const { promoted, merged, rejected, deferred } = candidates;
    rows.push([
      "candidates",
      `${candidates.candidates}: ${describeCounts({ promoted, merged, rejected, deferred }, "undecided")}`,
    ]);
  }
  const { contradictions, evicted, kept, merges } = reconciled;
  const settled = { contradictions, "pages evicted": evicted, "kept without source": kept, merges };
  if (Object.values(settled).some((count) => count > 0)) rows.push(["reconciled", describeCounts(settled)]);
  const made = {
    "new pages": pages.added,
    changed: pages.changed,
    removed: pages.removed,
    tables,
    "metrics files": metrics,
    mended: gates.mended,
  };
  if (Object.values(made).some((count) => count > 0)) rows.push(["written", describeCounts(made)]);
  return rows;
}

/** Renders planned reads, requests and cost. */
export function describeIngestPlan(
  { stdout }: Pick<Invocation, "stdout">,
  plan: IngestPlan,
  { hasModel, limit }: { hasModel: boolean; limit: { usd?: number | undefined; requests?: number | undefined } },
): string[] {
  const { bold, dim, warn } = styleFor(stdout);
  const requests = plan.requests.reduce((sum, each) => sum + each.requests, 0);
  const isOver = (plan.usd ?? 0) > (limit.usd ?? Infinity) || requests > (limit.requests ?? Infinity);
  const sources = plan.sources.map(({ name, added, changed, unchanged, renamed, deleted, ignored }) => [
    `  ${name}`,
    describeCounts(
      { new: added, changed, moved: renamed, deleted, unchanged, "unsupported file type": ignored },
      "empty",
    ),
  ]);
  const asked = plan.requests.map(({ role, model, requests, usd }) => [
    `  ${role}`,
    `about ${number(requests)} requests to ${model}${usd === null ? "" : `, ${dollars(usd)}`}`,
  ]);
  return [
    bold("read"),
    ...table(sources),
    `  ${describeCounts({ documents: plan.documents, characters: plan.characters }, "nothing new")}`,
    bold("ask"),
    ...(hasModel ? (asked.length > 0 ? table(asked) : ["  nothing"]) : ["  nothing: no model is set up"]),
    ...(hasModel && asked.length > 0
      ? [bold("spend"), `  about ${number(requests)} requests, ${priceText(plan.usd)}`]
      : []),
    ...(hasModel && isOver
      ? [warn("  That is above the limit (context.budget): the ingest starts only with --yes.")]
      : []),
    ...(plan.skipped.length > 0 ? [bold("skip")] : []),
    ...plan.skipped.map(({ item, message }) => `  ${printable(item)}: ${printable(message)}`),
    dim("Nothing was changed."),
  ];
}

const number = (value: number): string => value.toLocaleString("en-US");
